import { isRefused } from "../../src/domain/index.ts";
import type { HandshakeResponse } from "../../src/sources/contract/contract.ts";
import type { Contract, EventContent, Scheme, SignedRequest, SourceDefinition } from "../../src/sources/index.ts";
import { eventsOf } from "./contract.ts";

/** The time in these tests. */
export const PRESET_NOW = new Date("2026-06-15T12:00:00Z");
export const PRESET_ORIGIN = "https://callbacks.example";

interface OpenedPreset {
  readonly scheme: Scheme;
  readonly contract: Contract;
}

export function openPreset(
  { createScheme, createContract }: SourceDefinition,
  { now = PRESET_NOW, learn }: { now?: Date; learn?: (secret: string) => boolean } = {},
): OpenedPreset {
  const environment = {
    name: "source",
    clock: { now: () => now },
    origin: () => PRESET_ORIGIN,
    ...(learn !== undefined && {
      learning: { learn, learntSecrets: () => [], lookForSecrets: () => undefined },
    }),
  };
  return { scheme: createScheme(environment), contract: createContract(environment) };
}

/** The events of a callback that must be authentic. */
export async function verifiedEvents(
  preset: SourceDefinition,
  request: SignedRequest,
): Promise<readonly EventContent[]> {
  const { scheme, contract } = openPreset(preset);
  const verdict = await scheme.verify(request);
  if (!("verified" in verdict)) throw new Error(`not authentic: ${JSON.stringify(verdict)}`);
  return eventsOf(contract, request, verdict.signedText);
}

/** The answer to a signed question. */
export async function answerTo(preset: SourceDefinition, request: SignedRequest): Promise<Awaited<HandshakeResponse>> {
  const { scheme, contract } = openPreset(preset);
  const verdict = await scheme.verify(request);
  if (!("verified" in verdict)) throw new Error(`not authentic: ${JSON.stringify(verdict)}`);
  const read = contract.read(request);
  if (isRefused(read) || read.kind !== "handshake") throw new Error(`no handshake: ${JSON.stringify(read)}`);
  return read.respond();
}
