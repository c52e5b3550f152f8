import { sourceOf } from "oncehook/admin-client";
import type { ReactNode } from "react";
import { PageLink } from "./page-link.tsx";

/** In the log the source of OAuth redirects, whose address is below the list. */
const REDIRECTS = "oauth";

interface Props {
  /** A source, or the source of an event's key, such as `stripe#audit` or `shops/acme`. */
  readonly source: string;
  readonly className?: string;
  /** A section of its page. */
  readonly hash?: string;
  /** The name itself where it is left out. */
  readonly children?: ReactNode;
}

/** The name of a source, which leads to its page. */
export function SourceLink({ source, className, hash, children = source }: Props) {
  const look = { underline: "hover", ...(className !== undefined && { className }) } as const;
  if (source === REDIRECTS)
    return (
      <PageLink to="/sources" hash={REDIRECTS} {...look}>
        {children}
      </PageLink>
    );
  return (
    <PageLink
      to="/sources/$name"
      params={{ name: sourceOf({ source }) }}
      {...(hash !== undefined && { hash })}
      {...look}
    >
      {children}
    </PageLink>
  );
}
