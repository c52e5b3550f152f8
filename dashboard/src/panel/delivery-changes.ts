import type { CallbackView } from "oncehook/admin-client";
import { leavesOf, parseExact } from "./parse-exact.ts";

export interface Change {
  /** A path of the body, or `header` and a name. */
  readonly field: string;
  /** Undefined where the first delivery had none. */
  readonly first: string | undefined;
  readonly now: string | undefined;
}

/** Headers that differ in every request, whatever it carries. */
const NOISE = /^(?:date|x-request-id|traceparent|tracestate|content-length|x-forwarded-.*|x-real-ip|cf-.*|via)$/;

type Sent = Pick<CallbackView, "headers" | "body">;

/** The fields in which a later delivery differs from the first one. */
export function changesBetween(first: Sent, now: Sent): readonly Change[] {
  const headers = (of: Sent) =>
    new Map(
      Object.entries(of.headers)
        .filter(([name]) => !NOISE.test(name))
        .map(([name, value]) => [`header ${name}`, value]),
    );
  return [...differences(bodyOf(first), bodyOf(now)), ...differences(headers(first), headers(now))];
}

function bodyOf({ body }: Sent): ReadonlyMap<string, string> {
  const value = parseExact(body);
  return value === undefined ? new Map([["body", body]]) : leavesOf(value);
}

function differences(first: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): readonly Change[] {
  return [...new Set([...first.keys(), ...now.keys()])]
    .filter((field) => first.get(field) !== now.get(field))
    .map((field) => ({ field, first: first.get(field), now: now.get(field) }));
}
