import { hash } from "node:crypto";
import type { DistinctHeaders } from "../schemes/scheme.ts";
import type { ClaimedDigest } from "./claimed-digest.ts";
import type { Part } from "./digest.ts";
import type { Suspect } from "./suspect.ts";

/** What may have been signed in place of the body alone. */
export interface Content {
  readonly parts: readonly Part[];
  /** In words that follow "The signature covers". */
  readonly what: string;
}

const TIMESTAMPS = [
  "x-timestamp",
  "webhook-timestamp",
  "svix-timestamp",
  "x-slack-request-timestamp",
  "x-zm-request-timestamp",
  "x-hubspot-request-timestamp",
  "x-signature-timestamp",
  "x-request-timestamp",
] as const;
const IDS = ["webhook-id", "svix-id", "x-request-id", "x-webhook-id", "x-event-id"] as const;
const LONGEST = 64;
const MAX_TIMESTAMPS = 2;

/** The contents that platforms are known to sign, with what this request brings of them. */
export function otherContents(
  { headers, body, method, url }: Suspect,
  claims: readonly ClaimedDigest[],
): Content[] {
  const stamps = [...claims.map(({ timestamp }) => timestamp), ...valuesOf(headers, TIMESTAMPS)];
  const timestamps = [...new Set(stamps)].filter((stamp) => stamp !== undefined).slice(0, MAX_TIMESTAMPS);
  const [id] = valuesOf(headers, IDS);
  return [
    ...timestamps.flatMap((timestamp) => withTimestamp(timestamp, id, { body, method, url })),
    ...(id === undefined ? [] : [{ parts: [id, ".", body], what: "an id, a dot and the body" }]),
    { parts: [url, body], what: "the address and the body, as Square signs" },
    { parts: [method, url, body], what: "the method, the address and the body" },
    { parts: [hash("sha256", body, "hex")], what: "the SHA-256 of the body in hexadecimal" },
    { parts: [hash("sha256", body, "buffer")], what: "the SHA-256 of the body" },
    { parts: [Buffer.from(body).toString("base64")], what: "the body in base64" },
    ...(body.length === 0 ? [] : [{ parts: [], what: "nothing at all" }]),
  ];
}

function withTimestamp(
  timestamp: string,
  id: string | undefined,
  { body, method, url }: Pick<Suspect, "body" | "method" | "url">,
): Content[] {
  return [
    { parts: [timestamp, ".", body], what: "the timestamp, a dot and the body, as Stripe signs" },
    ...(id === undefined
      ? []
      : [
          {
            parts: [id, ".", timestamp, ".", body],
            what: "id, timestamp and body with dots between, as Standard Webhooks has it",
          },
        ]),
    {
      parts: ["v0:", timestamp, ":", body],
      what: "`v0`, the timestamp and the body with colons between, as Slack and Zoom sign",
    },
    { parts: [timestamp, ":", body], what: "the timestamp, a colon and the body, as Paddle signs" },
    { parts: [timestamp, body], what: "the timestamp and the body behind it" },
    { parts: [timestamp, "\n", body], what: "the timestamp, a line break and the body" },
    { parts: [body, timestamp], what: "the body and the timestamp behind it" },
    { parts: [body, ".", timestamp], what: "the body, a dot and the timestamp" },
    { parts: [method, url, body, timestamp], what: "method, address, body and timestamp, as HubSpot signs" },
  ];
}

function valuesOf(headers: DistinctHeaders, names: readonly string[]): string[] {
  return names
    .map((name) => headers[name]?.[0])
    .filter((value) => value !== undefined && value !== "" && value.length <= LONGEST) as string[];
}
