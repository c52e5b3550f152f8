import { Group, Modal } from "@mantine/core";
import type { ReactNode } from "react";

interface Props {
  readonly title: string;
  readonly size?: "md" | "xl";
  readonly isOpen: boolean;
  readonly close: () => void;
  readonly children: ReactNode;
}

/** A dialog. Mantine's own header is a `header`, of which a page may have one. */
export function Dialog({ title, size = "md", isOpen, close, children }: Props) {
  return (
    <Modal.Root opened={isOpen} onClose={close} size={size}>
      <Modal.Overlay />
      <Modal.Content>
        <Modal.Body pt="md">
          <Group justify="space-between" wrap="nowrap" mb="md">
            <Modal.Title fw={700}>{title}</Modal.Title>
            <Modal.CloseButton aria-label="Close" />
          </Group>
          {children}
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}
