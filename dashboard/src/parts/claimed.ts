import type { CallbackView } from "oncehook/admin-client";

/** Headers in which platforms send a delivery's id, and in which they send its type. */
const ID_HEADERS = ["x-github-delivery", "x-shopify-webhook-id", "webhook-id", "svix-id", "x-gitlab-event-uuid"];
const TYPE_HEADERS = ["x-github-event", "x-shopify-topic", "x-gitlab-event", "x-event-type"];

export interface Claimed {
  readonly id: string | undefined;
  readonly type: string | undefined;
}

/** The id and type that an unauthenticated callback claims. Anyone may have written them. */
export function claimedBy({ headers, body }: Pick<CallbackView, "headers" | "body">): Claimed {
  const fields = fieldsOf(body);
  const header = (names: readonly string[]) => names.map((name) => headers[name]).find((value) => value !== undefined);
  return {
    id: header(ID_HEADERS) ?? textOf(fields.event_id) ?? textOf(fields.id),
    type: header(TYPE_HEADERS) ?? textOf(fields.event_type) ?? textOf(fields.type),
  };
}

function fieldsOf(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}
