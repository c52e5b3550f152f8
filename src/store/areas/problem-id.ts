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
  const text = frame.trimStart();
  if (!text.startsWith(AT)) return "";
  const open = text.lastIndexOf(" (");
  const name = open === -1 ? "" : text.slice(AT.length, open);
  const place = open === -1 ? text.slice(AT.length) : text.slice(open + 2);
  const path = withoutNumbers(place.endsWith(")") ? place.slice(0, -1) : place);
  return `${name} ${path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1)}`;
}

const AT = "at ";

/** Without the line and the column behind it. */
function withoutNumbers(place: string): string {
  const colon = place.lastIndexOf(":");
  return colon !== -1 && /^\d+$/.test(place.slice(colon + 1)) ? withoutNumbers(place.slice(0, colon)) : place;
}
