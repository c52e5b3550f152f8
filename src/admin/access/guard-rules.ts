import type { Role } from "../../store/index.ts";
import type { Caller } from "./access.ts";

/** What the guard asks of a route; it stands in the route's schema. */
export interface GuardRules {
  /** For everybody. */
  readonly isOpen?: boolean;
  /** Whatever `Host` says: what it answers is nobody's secret. */
  readonly anyHost?: boolean;
  /** Who may; left out, everybody may look and only operators may change things. */
  readonly role?: Role;
  /** The name under which the audit log has it, such as `failure.replay`. */
  readonly action?: string;
  /** The name instead where the query asks for a dry run. */
  readonly dryRunAction?: string;
  /** The fields of the body that the audit log keeps; none of them may hold a secret. */
  readonly told?: readonly string[];
}

declare module "fastify" {
  interface FastifySchema {
    guard?: GuardRules;
  }
  interface FastifyRequest {
    /** Null on open routes. */
    caller: Caller | null;
    /** Of its row in the audit log, while it is under way. */
    auditId: number | null;
  }
}

/** The name in the audit log of what a request asks for; before its validation the query still holds texts. */
export function actionOf(query: unknown, { action, dryRunAction }: GuardRules): string | undefined {
  const { dry_run } = (query ?? {}) as { dry_run?: unknown };
  return dry_run === true || dry_run === "true" ? (dryRunAction ?? action) : action;
}

const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** Whether a method may change something (RFC 9110 §9.2.1). */
export function isUnsafe(method: string): boolean {
  return !SAFE.has(method);
}
