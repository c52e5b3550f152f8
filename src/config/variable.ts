import { isIP } from "node:net";
import { z } from "zod";

const UNITS = { second: 1, minute: 60, hour: 3_600, day: 86_400 } as const;

export function wholeNumber(min: number, max: number) {
  return z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .refine((value) => value >= min && value <= max);
}

export const flag = z.enum(["true", "false"]).transform((text) => text === "true");

export const onOff = z.enum(["on", "off"]).transform((text) => text === "on");

/** `off`, or a schema's value. */
export function orOff<Value>(schema: z.ZodType<Value, string>) {
  return z.union([z.literal("off").transform(() => null), schema]);
}

export interface RateLimit {
  readonly points: number;
  readonly windowSeconds: number;
}

export const rateLimit = z
  .string()
  .regex(/^[1-9]\d{0,8}\/(second|minute|hour|day)$/)
  .transform((text): RateLimit => {
    const [points = "", unit = ""] = text.split("/");
    return { points: Number(points), windowSeconds: UNITS[unit as keyof typeof UNITS] };
  });

/** Comma-separated addresses or CIDR networks. */
export const cidrs = list().refine((items) => items.every(isCidr));

export function list() {
  return z.string().transform((text) =>
    text
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== ""),
  );
}

/** 32 bytes as base64, base64url or hexadecimal. */
export const key32 = z
  .string()
  .transform((text) => Buffer.from(text, /^[0-9a-fA-F]{64}$/.test(text) ? "hex" : "base64"))
  .refine((key) => key.length === 32);

export const httpUrl = z.string().refine((text) => {
  const url = URL.parse(text);
  return url !== null && ["http:", "https:"].includes(url.protocol) && url.username === "" && url.hash === "";
});

/** A password stands percent-encoded in its address, and is sent as it is; undefined where it cannot be read. */
export function percentDecoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

function isCidr(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

/** One environment variable: how it is read, and what is said about it in errors and in the README. */
export interface Variable<Value> {
  /** What a value must be, in words that follow "expected". */
  readonly expects: string;
  /** What to say instead where a certain wrong value needs words of its own. */
  readonly hint?: (raw: string) => string | undefined;
  /** What applies when it is not set, in words; empty when nothing does. */
  readonly default: string;
  readonly meaning: string;
  /** Never shown, not even in the error that refuses it. */
  readonly secret?: boolean;
  readonly schema: z.ZodType<Value, string>;
}

export type ValuesOf<Table extends Record<string, Variable<unknown>>> = {
  readonly [Name in keyof Table]: (Table[Name] extends Variable<infer Value> ? Value : never) | undefined;
};

/** Keeps the type of each value while checking the shape of each entry. */
export function variable<Value>(entry: Variable<Value>): Variable<Value> {
  return entry;
}
