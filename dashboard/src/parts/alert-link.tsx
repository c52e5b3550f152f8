import type { ReactNode } from "react";
import type { AlertView } from "../views.ts";
import { PageLink } from "./page-link.tsx";

interface Props {
  readonly alert: AlertView;
  readonly underline: "hover" | "never";
  readonly className?: string;
  readonly children: ReactNode;
}

/** Leads to the list that shows the cause of an alert. */
export function AlertLink({ alert: { kind, source, subject }, children, ...look }: Props) {
  const search = { source, ...(subject !== "" && { event_type: subject }) };
  if (kind === "failures" || kind === "signatures")
    return (
      <PageLink to="/problems" search={search} {...look}>
        {children}
      </PageLink>
    );
  return (
    <PageLink to="/activity" search={{ ...search, ...(kind === "accepted" && { outcome: "accepted" }) }} {...look}>
      {children}
    </PageLink>
  );
}
