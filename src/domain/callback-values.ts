import { type CallbackLogEntry, lowerAscii } from "./callback-log.ts";
import { eachJsonLeaf, pathText } from "./json-leaves.ts";

/** The columns of a log entry that values are read from. */
export type ValueColumns = Pick<
  CallbackLogEntry,
  "requestId" | "eventId" | "remoteAddress" | "url" | "requestHeaders" | "requestBody"
>;

/** Shorter and longer values are found only as texts. */
const [MIN_LENGTH, MAX_LENGTH] = [2, 64];
/** A body of 64 KiB may hold ten thousand leaves; further ones are found as texts. */
const MAX_LEAVES = 2_000;

/** Headers that each client sends, or that say nothing about which callback it is. */
const COMMON_HEADERS: ReadonlySet<string> = new Set(
  (
    "host user-agent connection cache-control pragma origin referer te via forwarded x-real-ip x-amzn-trace-id traceparent " +
    "tracestate date expect transfer-encoding keep-alive priority dnt"
  ).split(" "),
);
const COMMON_BEGINNINGS = ["accept", "content-", "sec-", "x-forwarded-", "cf-", "upgrade"];
const CREDENTIALS = ["signature", "hmac"];
/** An id has a digit, and no spaces. */
const ID_LIKE = /^(?=.*\d)[\w.:+/=@~-]{4,64}$/;
const FORM = /^[^\s=&{[]{1,128}=/;
const MASKED = "[masked]";

/** `where` names the place: a path in the body, `header x-github-delivery`, `query order`, or a column. */
export type VisitValue = (value: string, where: () => string, isInBody: boolean) => void;

/** Calls `visit` with each value that a callback can be found by, as it is written. */
export function eachValue(row: ValueColumns, visitValue: VisitValue): void {
  const visit: Visit = (value, where) => visitValue(value, where, false);
  if (row.eventId !== null) visit(row.eventId, () => "event_id");
  visit(row.requestId, () => "request_id");
  visit(row.remoteAddress, () => "remote_address");
  eachOfUrl(row.url, visit);
  eachJsonLeaf(row.requestHeaders, (value, [name = ""]) => {
    if (ID_LIKE.test(value) && !isCommonHeader(String(name))) visit(value, () => `header ${name}`);
  });
  eachOfBody(row.requestBody, (value, where) => visitValue(value, where, true));
}

type Visit = (value: string, where: () => string) => void;

function isCommonHeader(name: string): boolean {
  if (COMMON_HEADERS.has(name) || COMMON_BEGINNINGS.some((beginning) => name.startsWith(beginning))) return true;
  return CREDENTIALS.some((part) => name.includes(part));
}

function eachOfUrl(url: string, visit: Visit): void {
  const [path = "", query] = url.split("?", 2);
  for (const segment of path.split("/")) if (ID_LIKE.test(segment)) visit(segment, () => "url");
  if (query !== undefined) for (const [name, value] of new URLSearchParams(query)) visit(value, () => `query ${name}`);
}

function eachOfBody(body: string, visit: Visit): void {
  let left = MAX_LEAVES;
  const leaf = (value: string, path: () => string) => {
    left -= 1;
    if (left >= 0 && value !== MASKED) visit(value, path);
  };
  if (!FORM.test(body)) return eachJsonLeaf(body, (value, path) => leaf(value, () => pathText(path)));
  for (const [name, value] of new URLSearchParams(body)) {
    if (value.startsWith("{")) eachJsonLeaf(value, (text, path) => leaf(text, () => pathText([name, ...path])));
    else leaf(value, () => name);
  }
}

/** The form under which an index holds a value; undefined for one that it does not hold. */
export function indexedValue(value: string): string | undefined {
  if (value.length < MIN_LENGTH || value.length > MAX_LENGTH) return undefined;
  // An index holds strings and numbers: half of all callbacks would have `true`.
  if (value === "true" || value === "false" || value.includes("\0") || !value.isWellFormed()) return undefined;
  return lowerAscii(value);
}
