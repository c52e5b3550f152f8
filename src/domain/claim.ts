import type { CallbackLogEntry } from "./callback-log.ts";
import { eachJsonLeaf, pathText } from "./json-leaves.ts";

/** The event that a callback names, before anything of it was verified. */
export interface Claim {
  readonly eventId: string | null;
  readonly eventType: string | null;
}

/** The places of ids and types among the platforms of the presets, the surest ones first. Nested ones are of Slack and CloudEvents. */
const IDS = {
  header:
    /^(?:x-github-delivery|webhook-id|svix-id|x-shopify-(?:webhook|event)-id|x-gitlab-event-uuid|linear-delivery|ce-id|x-event-id|x-webhook-id)$/,
  body: ["event_id", "eventId", "event_uuid", "id", "uuid", "MessageId"],
};
const TYPES = {
  header:
    /^(?:x-github-event|x-shopify-topic|x-gitlab-event|linear-event|ce-type|x-event-type|x-event-key|x-wc-webhook-topic)$/,
  body: ["event_type", "eventType", "event.type", "type", "topic", "event", "Type"],
};
const LONGEST = 255;

/** Of a callback without an event: the id and the type that it claims; undefined where neither is recognized. */
export function claimOf({
  eventId,
  eventType,
  requestHeaders,
  requestBody,
}: Pick<CallbackLogEntry, "eventId" | "eventType" | "requestHeaders" | "requestBody">): Claim | undefined {
  if (eventId !== null) return undefined;
  const headers = leavesOf(requestHeaders);
  const body = /^\s*\{/.test(requestBody)
    ? leavesOf(requestBody)
    : new Map([...new URLSearchParams(requestBody)].slice(0, MOST_LEAVES));
  const claim = { eventId: claimedAt(IDS, headers, body), eventType: eventType ?? claimedAt(TYPES, headers, body) };
  return claim.eventId === null && claim.eventType === null ? undefined : claim;
}

/**
 * Gives a row without an event the type that it claims, by which filters then select it. A claim has at most 255
 * characters, which were masked. A reader tells it by the missing event id.
 */
export function withClaimedType<Row extends CallbackLogEntry>(row: Row): Row {
  if (row.eventId !== null || row.eventType !== null) return row;
  const eventType = claimOf(row)?.eventType ?? null;
  return eventType === null ? row : { ...row, eventType };
}

const MOST_LEAVES = 100;

/** The first ones, of the two upper levels. */
function leavesOf(json: string): ReadonlyMap<string, string> {
  const leaves = new Map<string, string>();
  eachJsonLeaf(json, (leaf, path) => {
    if (path.length <= 2 && leaves.size < MOST_LEAVES) leaves.set(pathText(path), leaf);
  });
  return leaves;
}

function claimedAt(
  places: { readonly header: RegExp; readonly body: readonly string[] },
  headers: ReadonlyMap<string, string>,
  body: ReadonlyMap<string, string>,
): string | null {
  const named = [...headers].find(([name]) => places.header.test(name.toLowerCase()))?.[1];
  const found = named ?? places.body.map((name) => body.get(name)).find((value) => value !== undefined);
  return found === undefined || found === "" || found === "[masked]" || found.length > LONGEST ? null : found;
}
