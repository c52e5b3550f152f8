import type { CallbackView } from "oncehook/admin-client";

/** Headers that say something to the receiver; those of the connection, and what was signed, are made anew. */
const KEPT = new Set(["content-type", "x-event-type", "x-api-version", "user-agent"]);

/**
 * A command that sends the callback again. The command line signs it, with the secret of where it runs: no secret and no
 * signature is ever in this page.
 * @param origin of the receiver, such as `https://hooks.example.com`; the log has what comes behind it
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

/** A word of the shell, whatever is in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
