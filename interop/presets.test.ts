import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isRefused } from "../src/domain/index.ts";
import { createMask } from "../src/observability/index.ts";
import type {
  Contract,
  SignedRequest,
  SourceDefinition,
  SourceEnvironment,
  VerificationResult,
} from "../src/sources/index.ts";
import type { PlatformProof, ProofEvent, ProofRequest } from "./platform-proof.ts";
import { PROOFS } from "./proofs/index.ts";

const ORIGIN = "https://callbacks.example";
const NOW = new Date("2026-06-15T12:00:00Z");

function eventOf({ preset, secrets }: PlatformProof, over: Partial<ProofEvent> = {}): ProofEvent {
  return {
    secret: secrets[0],
    id: "evt-of-a-proof-1",
    now: NOW,
    url: `${ORIGIN}/api/${preset}/callback`,
    ...over,
  };
}

function signedRequest(request: ProofRequest, url: string): SignedRequest {
  const { method = "POST", query = "", headers, body } = request;
  const distinct = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value]]);
  const target = url.slice(new URL(url).origin.length) + query;
  return { method, target, headers: Object.fromEntries(distinct), body };
}

/** The scheme and the contract of a source, at a time of one's choice. */
function opened(definition: SourceDefinition, name: string, now: Date, origin = ORIGIN) {
  const learning = createLearning();
  const clock = { now: () => now };
  const environment = { name, clock, origin: () => origin, visit: async () => {}, learning };
  return { scheme: definition.createScheme(environment), contract: definition.createContract(environment) };
}

/** Takes the first secret that a platform sends. */
function createLearning(): NonNullable<SourceEnvironment["learning"]> {
  let learnt: readonly string[] = [];
  return {
    learntSecrets: () => learnt,
    lookForSecrets: () => undefined,
    learn(secret) {
      if (learnt.length > 0) return false;
      learnt = [secret];
      return true;
    },
  };
}

async function verified(
  proof: PlatformProof,
  request: ProofRequest,
  { secrets = [proof.secrets[0]] as readonly string[], now = NOW, url = eventOf(proof).url } = {},
): Promise<VerificationResult> {
  const { scheme } = opened(await proof.source(secrets), proof.preset, now, new URL(url).origin);
  return scheme.verify(signedRequest(request, url));
}

function withFlippedBit(bytes: Uint8Array, at: number): Uint8Array {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

async function idsOf(proof: PlatformProof, contract: Contract, event: ProofEvent): Promise<string[]> {
  const found = contract.read(signedRequest(await proof.callback(event), event.url));
  if (isRefused(found)) throw new Error(`the contract refuses it: ${found.message}`);
  if (found.kind === "handshake") throw new Error("the contract takes it for a handshake");
  const events = found.kind === "event" ? [found.event] : found.events;
  return events.map(({ eventId }) => eventId);
}

describe.each(PROOFS.map((proof) => [proof.preset, proof] as const))("the preset %s", (_preset, proof) => {
  let stop: (() => Promise<void>) | undefined;
  beforeAll(async () => {
    stop = await proof.start?.();
  });
  afterAll(() => stop?.());

  it("a callback that the platform signs is authentic", async () => {
    expect(await verified(proof, await proof.callback(eventOf(proof)))).toHaveProperty("verified");
  });

  it.runIf(proof.rotates !== false).each([0, 1, 2])(
    "during a rotation the secret at place %i of three verifies",
    async (place) => {
      const request = await proof.callback(eventOf(proof, { secret: proof.secrets[place] as string }));
      expect(await verified(proof, request, { secrets: proof.secrets })).toMatchObject({
        verified: [{ index: place }],
      });
    },
  );

  it.runIf(proof.learns)("the secret that the platform sends verifies its callbacks from then on", async () => {
    const { scheme, contract } = opened(await proof.source([]), proof.preset, NOW);
    const event = eventOf(proof);
    const callback = signedRequest(await proof.callback(event), event.url);
    expect(await scheme.verify(callback)).toMatchObject({ kind: "refused" });
    const [handshake] = proof.handshakes ?? [];
    const introduction = await handshake?.request(event);
    await contract.challenge?.(signedRequest(introduction as ProofRequest, event.url));
    expect(await scheme.verify(callback)).toHaveProperty("verified");
  });

  it("a callback that is signed with another secret is refused", async () => {
    const request = await proof.callback(eventOf(proof, { secret: proof.secrets[1] }));
    expect(await verified(proof, request)).toMatchObject({ kind: "refused" });
  });

  it.runIf(proof.signsBody !== false)("a body with a flipped bit is refused, wherever the bit is", async () => {
    const request = await proof.callback(eventOf(proof));
    for (let at = 0; at < request.body.length; at += Math.ceil(request.body.length / 12)) {
      const changed = { ...request, body: withFlippedBit(request.body, at) };
      expect(await verified(proof, changed), `the byte ${at}`).toMatchObject({ kind: "refused" });
    }
  });

  it("a callback without its signature is refused", async () => {
    const request = await proof.callback(eventOf(proof));
    const { headers, body } = proof.withoutSignature?.(request) ?? request;
    const contentType = headers["content-type"];
    const bare = { headers: contentType === undefined ? {} : { "content-type": contentType }, body };
    const result = await verified(
      proof,
      proof.signsBody === false || proof.isSignedInBody ? { ...bare, body: Buffer.from("{}") } : bare,
    );
    expect(result).toMatchObject({ kind: "refused" });
  });

  it("a callback as its log entry shows it is not authentic", async () => {
    const { credentialPlaces } = await proof.source([proof.secrets[0]]);
    const { headers = [], fields = [] } = credentialPlaces;
    const mask = createMask({ headers, keys: fields });
    const sent = await proof.callback(eventOf(proof));
    const shown = {
      ...(sent.method !== undefined && { method: sent.method }),
      query: mask.url(sent.query ?? ""),
      headers: mask.headers(sent.headers),
      body: Buffer.from(mask.body(sent.body)),
    };
    expect(await verified(proof, shown)).toMatchObject({ kind: "refused" });
  });

  it.runIf(proof.toleranceSeconds !== null)("a callback older than the tolerance is refused", async () => {
    const request = await proof.callback(eventOf(proof));
    const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);
    const tolerance = proof.toleranceSeconds as number;
    expect(await verified(proof, request, { now: at(tolerance - 1) })).toHaveProperty("verified");
    expect(await verified(proof, request, { now: at(tolerance + 2) })).toMatchObject({ kind: "refused" });
  });

  it.runIf(proof.toleranceSeconds === null)("a retry a day later is not refused", async () => {
    const request = await proof.callback(eventOf(proof));
    const now = new Date(NOW.getTime() + 86_400_000);
    expect(await verified(proof, request, { now })).toHaveProperty("verified");
  });

  it("each event has an id of its own, and a repeated one the same, unless each delivery is an event", async () => {
    const { contract } = opened(await proof.source([proof.secrets[0]]), proof.preset, NOW);
    const [first, again, other] = [
      await idsOf(proof, contract, eventOf(proof)),
      await idsOf(proof, contract, eventOf(proof)),
      await idsOf(proof, contract, eventOf(proof, { id: "evt-of-a-proof-2" })),
    ];
    expect(first).toHaveLength(1);
    // A platform that sends neither id nor time: each delivery is an event.
    if (contract.identity === "delivery") expect(again).not.toEqual(first);
    else expect(again).toEqual(first);
    expect(other).not.toEqual(first);
  });

  it.each([[""], ["\n"], ["a secret that ends in a newline\n"]])(
    "the secret %j is refused at the start",
    async (secret) => {
      await expect(async () => {
        const definition = await proof.source([secret]);
        opened(definition, proof.preset, NOW);
      }).rejects.toThrow(TypeError);
    },
  );

  it("the bytes 0xff and 0xfe are told apart", async ({ skip }) => {
    const request = await signedBytes(proof, Buffer.of(0xff));
    if (request === undefined) return skip("the platform signs no bytes of a body");
    expect(await verified(proof, request)).toHaveProperty("verified");
    expect(await verified(proof, { ...request, body: Buffer.of(0xfe) })).toMatchObject({ kind: "refused" });
  });

  it.runIf(proof.accepts !== undefined)("the platform's SDK takes what the preset signs for its own", async () => {
    const event = eventOf(proof, { now: new Date() });
    const request = await proof.callback(event);
    expect(await proof.accepts?.(request, event)).toBe(true);
    // Where the body is not signed, another secret shows that the SDK judges at all.
    const [forged, asked] =
      proof.signsBody === false
        ? [request, { ...event, secret: proof.secrets[1] }]
        : [{ ...request, body: withFlippedBit(request.body, 1) }, event];
    expect(await proof.accepts?.(forged, asked)).toBe(false);
  });

  it.runIf(proof.vector !== undefined)("the platform's published vector is authentic", async () => {
    const { secret, now, request, url } = (proof.vector as NonNullable<typeof proof.vector>)();
    const result = await verified(proof, request, {
      secrets: [secret],
      now,
      ...(url !== undefined && { url }),
    });
    expect(result).toHaveProperty("verified");
  });

  it.each((proof.handshakes ?? []).map((handshake) => [handshake.title, handshake] as const))(
    "the platform's question is answered: %s",
    async (_title, handshake) => {
      const event = eventOf(proof);
      const request = signedRequest(await handshake.request(event), event.url);
      const secrets = proof.learns ? [] : [proof.secrets[0]];
      const { scheme, contract } = opened(await proof.source(secrets), proof.preset, NOW);
      const unsigned = await contract.challenge?.(request);
      const response = unsigned ?? (await afterVerification(contract, await scheme.verify(request), request));
      expect(response).toMatchObject(handshake.response);
    },
  );
});

/** Undefined where a body must be more than bytes to be signed. */
async function signedBytes(proof: PlatformProof, body: Uint8Array): Promise<ProofRequest | undefined> {
  const event = eventOf(proof);
  if (proof.signed !== undefined) return proof.signed(body, event);
  const { sign } = await proof.source([proof.secrets[0]]);
  if (sign === undefined) return undefined;
  const { headers } = await proof.callback(event);
  const signed = sign({ body, headers, target: event.url.slice(ORIGIN.length), origin: ORIGIN, now: NOW });
  return { headers: { ...headers, ...lowerCased(signed) }, body };
}

async function afterVerification(contract: Contract, result: VerificationResult, request: SignedRequest) {
  if (!("verified" in result)) throw new Error(`the question is not authentic: ${JSON.stringify(result)}`);
  const found = contract.read(request);
  if (isRefused(found) || found.kind !== "handshake") throw new Error("the contract takes it for an event");
  return found.respond();
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
