import type { Refused } from "../../domain/index.ts";
import { hasRealDay } from "../../domain/index.ts";
import { optionError } from "../option-error.ts";
import type { DistinctHeaders } from "../request.ts";
import type { HmacData, TimestampRule, TimestampUnit } from "./hmac-data.ts";
import { quoted, refuse } from "./scheme.ts";

export interface SentTimestamp {
  /** Exactly as it was sent, which is what is signed. */
  readonly text: string;
  /** Seconds since the epoch. */
  readonly seconds: number;
}

export interface TimestampCheck {
  /** @param field the one beside the signature, where the platform sends it there */
  read(headers: DistinctHeaders, field: string | undefined): SentTimestamp | Refused;
  /** Left out where no age is checked. */
  readonly staleness?: (sent: SentTimestamp, now: Date) => Refused | undefined;
}

/** @returns undefined where the platform sends no timestamp */
export function compileTimestamp(data: Pick<HmacData, "signature" | "timestamp">): TimestampCheck | undefined {
  const { timestamp: rule, signature } = data;
  if (rule === undefined) return undefined;
  const { unit, toleranceSeconds, direction = "both" } = rule;
  const field = signature.fields?.timestamp;
  const headers = rule.header === undefined ? [] : [rule.header].flat();
  const name = field === undefined ? quoted(headers, " or ") : `${quoted([signature.header].flat())}: \`${field}\``;
  if (name === "") throw optionError("timestamp.header", "none, and no field holds the timestamp");
  const parse = createParser(name, unit);
  const read: TimestampCheck["read"] =
    field === undefined ? createHeaderReader(headers, parse) : (_headers, text) => parse(text);
  if (toleranceSeconds === null) return { read };
  return {
    read,
    staleness({ seconds }, now) {
      const fault = ageFault(now.getTime() / 1000 - seconds, toleranceSeconds, direction);
      return fault === undefined ? undefined : refuse("timestamp_stale", `${name}: ${fault}`);
    },
  };
}

/**
 * Why a time is stale, in words that follow its name; undefined where it is not.
 * @param age in seconds, negative for a time ahead; NaN is stale
 */
export function ageFault(
  age: number,
  toleranceSeconds: number,
  direction: TimestampRule["direction"] = "both",
): string | undefined {
  if ((direction === "both" ? Math.abs(age) : age) <= toleranceSeconds) return undefined;
  const distance = `${Math.ceil(Math.abs(age))} s ${age > 0 ? "ago" : "ahead"}`;
  return `${distance}, expected at most ${toleranceSeconds} s`;
}

type Parse = (text: string | undefined) => SentTimestamp | Refused;

function createParser(name: string, unit: TimestampUnit): Parse {
  const secondsOf = PARSERS[unit];
  return (text = "") => {
    const seconds = secondsOf(text);
    if (seconds !== undefined) return { text, seconds };
    const isFiner = unit === "seconds" && /^\d{13}$/.test(text);
    const got = text === "" ? "missing" : isFiner ? "in milliseconds" : "in another form";
    return refuse("timestamp_missing", `${name}: ${got}, expected ${FORMS[unit]}`);
  };
}

function createHeaderReader(names: readonly string[], parse: Parse): TimestampCheck["read"] {
  const wanted = names.map((name) => ({ name, key: name.toLowerCase() }));
  return (headers) => {
    for (const { name, key } of wanted) {
      const values = headers[key];
      if (values === undefined) continue;
      if (values.length > 1)
        return refuse("timestamp_missing", `\`${name}\`: stands ${values.length} times, expected once`);
      if (values[0] === "") continue;
      return parse(values[0]);
    }
    return parse(undefined);
  };
}

const FORMS: Readonly<Record<TimestampUnit, string>> = {
  seconds: "whole seconds since the epoch",
  milliseconds: "whole milliseconds since the epoch",
  iso: "a time of RFC 3339",
};

const SECONDS = /^\d{1,11}$/;
const MILLISECONDS = /^\d{1,14}$/;

const PARSERS: Readonly<Record<TimestampUnit, (text: string) => number | undefined>> = {
  seconds: (text) => (SECONDS.test(text) ? Number(text) : undefined),
  milliseconds: (text) => (MILLISECONDS.test(text) ? Number(text) / 1000 : undefined),
  iso: rfc3339Seconds,
};

/** A leap second is the sixtieth (RFC 3339 §5.7). */
const RFC_3339 =
  /^(\d{4}-\d\d-\d\d)T((?:[01]\d|2[0-3]):[0-5]\d:)([0-5]\d|60)((?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d))$/;

/** `Date.parse` takes many other forms. A fraction has up to nine digits (Twitch). */
function rfc3339Seconds(text: string): number | undefined {
  const [, day, before, second, after] = RFC_3339.exec(text) ?? [];
  if (!hasRealDay(text)) return undefined;
  const seconds = Date.parse(`${day}T${before}00${after}`) / 1000 + Number(second);
  return Number.isNaN(seconds) ? undefined : seconds;
}

/** A time as the platform would send it. */
export function formatTimestamp(time: Date, unit: TimestampUnit): string {
  if (unit === "iso") return time.toISOString();
  return String(unit === "seconds" ? Math.floor(time.getTime() / 1000) : time.getTime());
}
