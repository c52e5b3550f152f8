import type { CallbackView } from "oncehook/admin-client";
import type { SourceView } from "../views.ts";

/** Headers that the receiver reads; connection headers and the signature are generated again. */
const KEPT = new Set(["content-type", "x-event-type", "x-api-version", "user-agent"]);

/** It fails where the project has no such command. Behind a pipe npx would install a package of that name unasked. */
const SIGN = "npx --no oncehook sign";

/**
 * A command that sends the callback again, and nothing where it cannot be signed. The command line signs it with its own
 * secret: this page never has a secret or a signature.
 * @param origin of the receiver, such as `https://hooks.example.com`; the log has the rest of the URL
 */
export function asCurl(callback: CallbackView, origin: string): string {
  const { method, url, headers, body, source } = callback;
  const kept = Object.entries(headers).filter(([name]) => KEPT.has(name.toLowerCase()));
  const to = quoted(origin + url);
  if (source !== null && source !== "platform") {
    return [
      `body=${quoted(body)}`,
      `headers=$(printf %s "$body" | ${SIGN} ${signOptions(callback, to)}) &&`,
      `printf '%s\\n' "$headers" | curl -X ${method} ${to} -H @- --data-raw "$body"`,
    ].join("\n");
  }
  return [
    `body=${quoted(body)}`,
    `signature=$(printf %s "$body" | ${SIGN}) &&`,
    `curl -X ${method} ${to} \\`,
    ...kept.map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)} \\`),
    `  -H "X-Timestamp: $(date +%s)" \\`,
    `  -H "X-Signature: $signature" \\`,
    `  --data-raw "$body"`,
  ].join("\n");
}

/** The source's signature may be over its address, and its type or id in a header. */
function signOptions({ source, event_type, event_id }: CallbackView, url: string): string {
  const [configured = ""] = (source ?? "").split(/[#/]/, 1);
  const given = { source: configured, type: event_type, id: event_id };
  const options = Object.entries(given).flatMap(([name, value]) =>
    value === null ? [] : `--${name} ${quoted(value)}`,
  );
  return [...options, `--url ${url}`].join(" ");
}

/**
 * Why a callback cannot be sent again from the log, in a sentence; undefined where it can.
 * @param sources those that the receiver has
 */
export function curlUnavailableReason(
  { source, method, body, left_out }: CallbackView,
  sources: readonly SourceView[],
): string | undefined {
  if (left_out !== undefined && left_out !== null)
    return "It cannot be copied as curl: it stands for callbacks that are not logged one by one.";
  if (method === "") return "It cannot be copied as curl: it was no HTTP request that could be read.";
  if (source === "oauth") return "It cannot be copied as curl: the code of an OAuth redirect works once.";
  if (source === null || body === "")
    return "It cannot be copied as curl: it has no body, or was turned away before its body was taken.";
  if (isPlaceholder(body))
    return "It cannot be copied as curl: the log keeps the length and the hash of this body, and not all of it.";
  const [configured] = source.split(/[#/]/, 1);
  const { authentication } = sources.find((one) => one.source === configured) ?? { authentication: undefined };
  if (authentication === undefined)
    return `It cannot be copied as curl: ${configured} is no source of this receiver any more.`;
  const methods = authentication.map((one) => one.method);
  return configured !== "platform" || methods.includes("hmac")
    ? undefined
    : `It cannot be copied as curl: ${configured} is authenticated by ${methods.join(" and ")}, and the command line signs only by hmac.`;
}

/** Whether the log has only a note of a body: it was too long, or neither JSON nor a form. */
function isPlaceholder(body: string): boolean {
  return /^\{"(?:truncated|unparsed)":true,"bytes":\d+,"sha256":"[0-9a-f]{64}"[,}]/.test(body);
}

/** A word of the shell, whatever is in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
