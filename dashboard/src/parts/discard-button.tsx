import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { ReactNode } from "react";
import { Confirm } from "./dialog.tsx";

interface Props {
  /** The thing, for those who hear a button without its row. */
  readonly name: string;
  /** The dialog's title, a question. */
  readonly question: string;
  /** The dialog's button, such as "Discard it". */
  readonly action: string;
  /** The effect, and whether it can be undone. */
  readonly children: ReactNode;
  readonly isBusy: boolean;
  readonly discard: () => Promise<unknown>;
}

/** Discards something after a question, whose safe answer has the focus. */
export function DiscardButton({ name, question, action, children, isBusy, discard }: Props) {
  const [isAsking, asking] = useDisclosure();
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        disabled={isBusy}
        onClick={asking.open}
        aria-label={`Discard: ${name}`}
      >
        Discard
      </Button>
      <Confirm
        title={question}
        action={action}
        isOpen={isAsking}
        isBusy={isBusy}
        onConfirm={() => void discard().finally(asking.close)}
        onClose={asking.close}
      >
        {children}
      </Confirm>
    </>
  );
}
