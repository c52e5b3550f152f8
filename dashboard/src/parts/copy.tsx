import { Button, Textarea, VisuallyHidden } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { useEffect, useRef } from "react";
import { Icon, type IconName } from "./icon.tsx";

const SHOWN_MS = 2_000;

interface Props {
  readonly text: string;
  /** The copied thing, as "endpoint URL" for a button "Copy endpoint URL". */
  readonly what: string;
}

/** @param isShort where the thing stands beside the button, which shows "Copy" only */
export function Copy({ text, what, isShort = false }: Props & { readonly isShort?: boolean }) {
  const { copied, copy, error } = useClipboard({ timeout: SHOWN_MS });
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        onClick={() => copy(text)}
        aria-live="polite"
        aria-label={copied ? "Copied" : `Copy ${what}`}
      >
        {copied ? "Copied" : isShort ? "Copy" : `Copy ${what}`}
      </Button>
      {error !== null && <ByHand key={text} text={text} />}
    </>
  );
}

interface IconProps extends Props {
  readonly icon: IconName;
}

/** The same without its word, where the thing stands beside it. */
export function CopyIcon({ text, what, icon }: IconProps) {
  const { copied, copy, error } = useClipboard({ timeout: SHOWN_MS });
  return (
    <>
      <button
        type="button"
        className="icon-button"
        aria-label={`Copy ${what}`}
        title={copied ? "Copied" : `Copy ${what}`}
        onClick={() => copy(text)}
      >
        <Icon name={copied ? "check" : icon} />
      </button>
      <VisuallyHidden role="status">{copied && "Copied"}</VisuallyHidden>
      {error !== null && <ByHand key={text} text={text} />}
    </>
  );
}

/** A browser refuses its clipboard to a page over plain HTTP from another machine, and may ask the user first. */
function ByHand({ text }: { readonly text: string }) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  return (
    <Textarea
      ref={field}
      label="It could not be copied: the browser gives this page no clipboard."
      description="It is selected here; copy it with the keyboard (Ctrl or ⌘ and C)."
      value={text}
      readOnly
      w="100%"
    />
  );
}
