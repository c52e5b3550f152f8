import type { JsonValue } from "../../src/domain/index.ts";
import type { Contract, Scheme, SignedRequest, SourceDefinition } from "../../src/sources/index.ts";

export const ORIGIN = "https://callbacks.example";
export const NOW = new Date("2026-06-15T12:00:00Z");

/** The scheme and the contract of a source as the start would make them. */
export function opened(definition: SourceDefinition, now = NOW): { scheme: Scheme; contract: Contract } {
  const environment = { name: definition.preset, clock: { now: () => now }, origin: () => ORIGIN };
  return { scheme: definition.createScheme(environment), contract: definition.createContract(environment) };
}

interface Sent {
  readonly method?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** @param body text and bytes as they are, anything else as JSON */
export function sent(
  body: Uint8Array | string | JsonValue,
  { method = "POST", query = "", headers = {} }: Sent = {},
): SignedRequest {
  const bytes = typeof body === "string" ? body : JSON.stringify(body);
  return {
    method,
    target: `/api/source/callback${query}`,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value]])),
    body: body instanceof Uint8Array ? body : Buffer.from(bytes),
  };
}
