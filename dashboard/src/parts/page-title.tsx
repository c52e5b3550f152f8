import { Text, Title } from "@mantine/core";
import { type ReactNode, useEffect, useRef } from "react";

interface Props {
  readonly title: string;
  /** The content of the page, in a sentence. */
  readonly description?: string;
  /** A link to the page above this one. */
  readonly parent?: ReactNode;
  /** Buttons beside it. */
  readonly children?: ReactNode;
}

let shownBefore = false;

/** The page's heading. Coming from another page it takes the focus, so that a screen reader announces the page. */
export function PageTitle({ title, description, parent, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} – Oncehook`;
    if (shownBefore) heading.current?.focus({ preventScroll: true });
    shownBefore = true;
  }, [title]);
  return (
    <>
      <div className="page-title">
        {parent !== undefined && <span className="parent">{parent} /</span>}
        <Title order={1} size="h2" ref={heading} tabIndex={-1}>
          {title}
        </Title>
        {children}
      </div>
      {description !== undefined && (
        <Text c="dimmed" mb="md">
          {description}
        </Text>
      )}
    </>
  );
}
