import type { JsonValue } from "../../src/domain/index.ts";
import type { SourceDefinition } from "../../src/sources/index.ts";
import { eventsOf, requestOf } from "./contract.ts";

/** The time in tests of presets. */
export const NOW = new Date("2026-06-15T12:00:00Z");

/** Scheme and contract of a source, as the start opens them. */
export function openSource(definition: SourceDefinition, now = NOW) {
  const environment = {
    name: "source",
    clock: { now: () => now },
    origin: () => "https://hooks.example.com",
  };
  const scheme = definition.createScheme(environment);
  const contract = definition.createContract(environment);
  return { scheme, contract };
}

interface Callback {
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Uint8Array | string | JsonValue;
}

/** What the scheme says of a callback. */
export async function verifySource(definition: SourceDefinition, { headers = {}, body }: Callback, now = NOW) {
  return openSource(definition, now).scheme.verify(requestOf(body, { headers }));
}

/** The envelopes of a callback's events. */
export function readSource(definition: SourceDefinition, { headers = {}, body }: Callback) {
  const { contract } = openSource(definition);
  return eventsOf(contract, requestOf(body, { headers })).map(({ json }) => json);
}
