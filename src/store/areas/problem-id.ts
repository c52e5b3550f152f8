import { createHash } from "node:crypto";
import { normalizedMessage, sourceOf, withoutTenant } from "../../domain/index.ts";
import { handlersFrames } from "../call-site.ts";

/** 48 bits: two of a thousand problems share an id once in half a billion databases. */
const DIGITS = 12;

/**
 * A stable id of a cause: of its kind and of the texts that tell it from others. Tenants of a source share their problems.
 */
export function problemId(kind: "failure" | "refusal" | "delivery", ...parts: readonly string[]): string {
  return createHash("sha256")
    .update(JSON.stringify([kind, ...parts]))
    .digest("hex")
    .slice(0, DIGITS);
}

export function failureProblemId(failure: {
  readonly source: string;
  readonly eventType: string;
  readonly code: string;
  readonly error: string;
}): string {
  const { source, eventType, code, error } = failure;
  return problemId("failure", withoutTenant(source), eventType, code, placeOf(error), normalizedMessage(error));
}

/** One channel and error; the recipient of a mail is part of its channel. */
export function deliveryProblemId({ channel, error }: { readonly channel: string; readonly error: string }): string {
  return problemId("delivery", channel, normalizedMessage(error));
}

/** A source whose callbacks are refused has one problem at a time, whatever the outcomes of single ones. */
export function refusalProblemId(source: string): string {
  return problemId("refusal", sourceOf({ source }));
}

/** The function and file of the first frame of the user's code. Its line changes with every edit of the file. */
function placeOf(error: string): string {
  const [frame = ""] = handlersFrames(error).split("\n", 1);
  const match = /^\s*at (?:(.*) \()?(.*?)(?::\d+)*\)?$/.exec(frame);
  if (match === null) return "";
  const [, name = "", path = ""] = match;
  return `${name} ${path.replace(/^.*[\\/]/, "")}`;
}
