import type { CallbackView } from "oncehook/admin-client";
import type { SourceView } from "../../views.ts";

/** Headers that the receiver reads; connection headers and the signature are generated again. */
const KEPT = new Set(["content-type", "x-event-type", "x-api-version", "user-agent"]);

/**
 * A command that sends the callback again. The command line signs it with its own secret: this page never has a secret or a
 * signature.
 * @param origin of the receiver, such as `https://hooks.example.com`; the log has the rest of the URL
 */
export function asCurl({ method, url, headers, body }: CallbackView, origin: string): string {
  const kept = Object.entries(headers).filter(([name]) => KEPT.has(name.toLowerCase()));
  return [
    `body=${quoted(body)}`,
    `curl -X ${method} ${quoted(origin + url)} \\`,
    ...kept.map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)} \\`),
    `  -H "X-Timestamp: $(date +%s)" \\`,
    `  -H "X-Signature: $(printf %s "$body" | oncehook sign)" \\`,
    `  --data-raw "$body"`,
  ].join("\n");
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
  const { authentication } = sources.find((one) => one.source === source) ?? { authentication: [] };
  const methods = authentication.map((one) => one.method);
  return methods.includes("hmac")
    ? undefined
    : `It cannot be copied as curl: ${source} is authenticated by ${methods.join(" and ") || "nothing that is known here"}, and the command line signs only by hmac.`;
}

/** Whether the log has only a note of a body: it was too long, or neither JSON nor a form. */
function isPlaceholder(body: string): boolean {
  return /^\{"(?:truncated|unparsed)":true,"bytes":\d+,"sha256":"[0-9a-f]{64}"[,}]/.test(body);
}

/** A word of the shell, whatever is in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
