import type { z } from "zod";

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
