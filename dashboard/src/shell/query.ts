import type { CallbackFilters } from "oncehook/admin-client";

/** The filter of an address that each name before a colon sets. */
const FILTERS = {
  source: "source",
  type: "event_type",
  event_type: "event_type",
  id: "event_id",
  event_id: "event_id",
  outcome: "outcome",
  status: "status",
  ip: "remote_address",
  address: "remote_address",
} as const satisfies Readonly<Record<string, keyof CallbackFilters>>;

const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

export type Query = { -readonly [Name in (typeof FILTERS)[keyof typeof FILTERS] | "from" | "text"]?: string };

/** The filters of a text such as `source:stripe since:3d order-123`. Other words are a part of the body. */
export function parseQuery(text: string, now: Date): Query {
  const query: Query = {};
  const words: string[] = [];
  for (const word of text.split(/\s+/).filter((one) => one !== "")) {
    const [, name = "", value = ""] = /^(\w+):(.+)$/.exec(word) ?? [];
    const from = name === "since" ? sinceOf(value, now) : undefined;
    if (from !== undefined) query.from = from;
    else if (name in FILTERS) query[FILTERS[name as keyof typeof FILTERS]] = value;
    else words.push(word);
  }
  return words.length === 0 ? query : { ...query, text: words.join(" ") };
}

/** The moment of `3d` ago, or of a time in ISO 8601; undefined for any other text. */
function sinceOf(value: string, now: Date): string | undefined {
  const [, count, unit = ""] = /^(\d{1,4})([mhd])$/.exec(value) ?? [];
  const unitMs = UNITS_MS[unit];
  if (count !== undefined && unitMs !== undefined)
    return new Date(now.getTime() - Number(count) * unitMs).toISOString();
  const instant = new Date(value);
  return Number.isNaN(instant.getTime()) ? undefined : instant.toISOString();
}
