import type { SessionView } from "oncehook/admin-client";

/** The navigation, in the order of how often it is needed. */
const ALL = [
  { to: "/", label: "Overview" },
  { to: "/callbacks", label: "Callbacks" },
  { to: "/failures", label: "Failures" },
  { to: "/refused", label: "Refused" },
  { to: "/notifications", label: "Notifications" },
  { to: "/bulk-replays", label: "Bulk replays" },
  { to: "/sources", label: "Sources and handlers" },
  { to: "/sandbox", label: "Sandbox" },
  { to: "/audit", label: "Audit log" },
  { to: "/api", label: "API reference" },
] as const;

/** The sandbox exists outside production alone. */
export function destinations({ sandbox }: SessionView) {
  return ALL.filter(({ to }) => sandbox || to !== "/sandbox");
}
