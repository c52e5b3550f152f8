import type { Dialect } from "../../support/open-target.ts";

/** `sent`, on PostgreSQL: the statement is on its way, and its answer is not. */
export type When = "before" | "sent" | "after";

/** The steps of an event that are statements, by what their text says. */
export const STEPS: Readonly<Record<string, RegExp | undefined>> = {
  begin: /^BEGIN/,
  "look-up": /^\s*SELECT .*oncehook_records/s,
  savepoint: /^SAVEPOINT/,
  effect: /insert into "?ledger_effects/i,
  notification: /INSERT INTO oncehook_notifications/,
  "log row": /INSERT INTO oncehook_callbacks/i,
  record: /(INSERT INTO|UPDATE) oncehook_records/,
  release: /^RELEASE/,
  commit: /^COMMIT/,
  delivery: /UPDATE oncehook_notifications/,
};

/** A place where a receiver may be killed. */
export interface KillPoint {
  readonly step: string;
  readonly when: When;
}

const both = (step: string): KillPoint[] => [
  { step, when: "before" },
  { step, when: "after" },
];

/** All of them, on one database. */
export function killPoints(dialect: Dialect): KillPoint[] {
  const statements = Object.keys(STEPS);
  if (dialect === "sqlite") return [...statements, "flush", "checkpoint", "answer"].flatMap(both);
  return [...statements.flatMap((step) => [...both(step), { step, when: "sent" } as const]), ...both("answer")];
}
