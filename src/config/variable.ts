import { isIP } from "node:net";
import { DAY_MS, durationMs, MINUTE_MS } from "../domain/index.ts";
import { TextSchema } from "./text-schema.ts";

/**
 * `own` is chosen here, so it can be random. `previous` is being rotated out. `issued` is chosen by a platform or
 * provider. `address` is an address that holds a secret. `database` is an address that is shown without its password.
 */
export type SecretKind = "own" | "previous" | "issued" | "address" | "database";

/**
 * One environment variable: a row of the table that the service, its errors and docs/configuration.md read. That page says
 * what each of them means.
 */
export interface Variable<Value = unknown> {
  readonly schema: TextSchema<Value>;
  /** The text that the schema reads where the variable is not set. Without it the value is undefined. */
  readonly default?: string;
  /** The effect of a variable that is not set, if the text of `default` does not say it. */
  readonly defaultText?: string;
  /** The expectation, for a wrong value that needs other words than the schema's. */
  readonly hint?: (raw: string) => string | undefined;
  /** A secret is never shown, not even in the error that refuses it. */
  readonly secret?: SecretKind;
  readonly generated?: true;
  /** Variables that mean nothing without this one, nor this one without them. */
  readonly with?: readonly string[];
  readonly httpsInProduction?: true;
  /** Production refuses to start without it; says what it needs. */
  readonly neededInProduction?: string;
}

export type VariableTable = Readonly<Record<string, Variable>>;

type ValueOf<Row extends Variable> =
  | (Row["schema"] extends TextSchema<infer Value> ? Value : never)
  | (Row extends { readonly default: string } ? never : undefined);

/** The values of a table's variables; undefined where one is not set and has no default. */
export type ValuesOf<Table extends VariableTable> = { readonly [Name in keyof Table]: ValueOf<Table[Name]> };

const MAX_KEEP_MS = 3_650 * DAY_MS;

/** The words that follow "expected". */
export function expectation({ schema, httpsInProduction }: Variable): string {
  return `${schema.description ?? "a text"}${httpsInProduction ? "; in production https" : ""}`;
}

export const text = (words: string) => new TextSchema((raw) => raw, words);

export const matching = (pattern: RegExp, words: string) => text(words).refine((raw) => pattern.test(raw));

export const longSecret = text("")
  .refine((secret) => Buffer.byteLength(secret) >= 32)
  .describe("at least 32 bytes");

/** @param more is added to the words */
export function wholeNumber(min: number, max: number, more = "") {
  return matching(/^\d{1,15}$/, "")
    .transform(Number)
    .refine((value) => value >= min && value <= max)
    .describe(`a whole number from ${min} to ${max}${more}`);
}

/** In milliseconds; 0 for none. */
export const keepTime = text("a time of up to 3650d, such as 30d or 12h; 0 keeps none")
  .transform((raw) => (raw === "0" ? 0 : durationMs(raw)))
  .refine((ms) => ms === 0 || (ms >= MINUTE_MS && ms <= MAX_KEEP_MS));

export const port = wholeNumber(0, 65_535, " (0: any free port)");

export function oneOf<const Name extends string>(...names: readonly [Name, ...Name[]]) {
  const words = `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
  return new TextSchema((raw) => names.find((name) => name === raw), words);
}

export const flag = oneOf("true", "false")
  .transform((value) => value === "true")
  .describe("true or false");

/** Null: off. */
export function orOff<Value>(schema: TextSchema<Value>, words: string) {
  return new TextSchema((raw) => (raw === "off" ? null : schema.read(raw)), words);
}

export function list(words: string, isItem: (item: string) => boolean = () => true) {
  return text(words)
    .transform((raw) =>
      raw
        .split(",")
        .map((item) => item.trim())
        .filter((item) => item !== ""),
    )
    .refine((items) => items.every(isItem));
}

/** Some of these names, or a word that means none. */
export function someOf<const Name extends string>(names: readonly Name[], none: string) {
  const isName = (item: string): item is Name => names.some((name) => name === item);
  const some = list("", isName).refine((items) => items.length > 0);
  const words = `some of ${names.join(",")}, or ${none}`;
  return new TextSchema((raw) => (raw === none ? [] : some.read(raw)?.filter(isName)), words);
}

export interface RateLimit {
  readonly points: number;
  readonly windowSeconds: number;
}

const UNITS = { second: 1, minute: 60, hour: 3_600, day: 86_400 } as const;

export const rateLimit = orOff(
  matching(/^[1-9]\d{0,8}\/(second|minute|hour|day)$/, "").transform((raw): RateLimit => {
    const [points = "", unit = ""] = raw.split("/");
    return { points: Number(points), windowSeconds: UNITS[unit as keyof typeof UNITS] };
  }),
  "a count per second, minute, hour or day, such as 10/minute, or off",
);

export const cidrs = list("addresses or CIDR networks, separated by commas", (item) => {
  const [address = "", bits, ...rest] = item.split("/");
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
});

export const key32 = text("32 bytes as base64 or 64 hexadecimal digits")
  .transform((raw): Uint8Array => Buffer.from(raw, /^[0-9a-fA-F]{64}$/.test(raw) ? "hex" : "base64"))
  .refine((key) => key.length === 32);

export const httpUrl = text("an http(s) address").refine((raw) => {
  const url = URL.parse(raw);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.hash === "";
});
