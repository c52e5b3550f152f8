import { Button, CopyButton } from "@mantine/core";

const SHOWN_MS = 2_000;

interface Props {
  readonly text: string;
  /** What is copied, as "the address"; the button says "Copy the address". */
  readonly what: string;
}

export function Copy({ text, what }: Props) {
  return (
    <CopyButton value={text} timeout={SHOWN_MS}>
      {({ copied, copy }) => (
        <Button size="compact-sm" variant="default" onClick={copy} aria-live="polite">
          {copied ? "Copied" : `Copy ${what}`}
        </Button>
      )}
    </CopyButton>
  );
}
