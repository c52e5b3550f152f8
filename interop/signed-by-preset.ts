import type { SourceDefinition } from "../src/sources/index.ts";
import type { ProofEvent, ProofRequest } from "./platform-proof.ts";

/** The request with the headers that the preset itself makes, for an SDK that verifies and does not sign. */
export function signedByPreset(
  { sign }: SourceDefinition,
  { url, now }: ProofEvent,
  { headers = {}, body }: { readonly headers?: Readonly<Record<string, string>>; readonly body: string },
): ProofRequest {
  if (sign === undefined) throw new TypeError("the preset cannot sign");
  const { origin, pathname } = new URL(url);
  const bytes = Buffer.from(body);
  const signed = sign({ body: bytes, headers, origin, target: pathname, now });
  const lowerCased = Object.entries(signed).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    headers: { "content-type": "application/json", ...headers, ...Object.fromEntries(lowerCased) },
    body: bytes,
  };
}
