import { Anchor, type AnchorProps } from "@mantine/core";
import { createLink } from "@tanstack/react-router";
import type { AnchorHTMLAttributes, Ref } from "react";

interface Props extends Omit<AnchorProps, "vars">, Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof AnchorProps> {
  readonly ref?: Ref<HTMLAnchorElement>;
}

function Styled({ ref, ...props }: Props) {
  return <Anchor ref={ref} underline="always" inherit {...props} />;
}

/** A link to another page of the dashboard. */
export const PageLink = createLink(Styled);
