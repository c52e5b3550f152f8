import "./dialog.css";
import { Button, Group, Modal, Text } from "@mantine/core";
import type { ReactNode } from "react";

interface Props {
  readonly title: string;
  /** The id of what it is about, below the title. */
  readonly id?: string | undefined;
  readonly size?: "md" | "xl";
  readonly isOpen: boolean;
  readonly close: () => void;
  readonly children: ReactNode;
}

/** A dialog. Mantine's header is a `header` element, of which a page may have one. */
export function Dialog({ title, id, size = "md", isOpen, close, children }: Props) {
  return (
    <Modal.Root opened={isOpen} onClose={close} size={size}>
      <Modal.Overlay />
      <Modal.Content>
        <Modal.Body pt="md">
          <Group justify="space-between" align="start" wrap="nowrap" mb="md">
            <Modal.Title className="dialog-title">
              {title} {id !== undefined && <code>{id}</code>}
            </Modal.Title>
            <Modal.CloseButton aria-label="Close" />
          </Group>
          {children}
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

interface ConfirmProps {
  readonly title: string;
  /** The effect of the action, and whether it can be undone. */
  readonly children: ReactNode;
  /** The button's label, a verb. */
  readonly action: string;
  readonly isOpen: boolean;
  readonly isBusy: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks before an action that cannot be undone. */
export function Confirm({ title, children, action, isOpen, isBusy, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog isOpen={isOpen} close={onClose} title={title}>
      <Text component="div">{children}</Text>
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={onClose} data-autofocus>
          Keep it
        </Button>
        <Button color="red" loading={isBusy} onClick={onConfirm}>
          {action}
        </Button>
      </Group>
    </Dialog>
  );
}
