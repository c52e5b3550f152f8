import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ResponseOutcome, refused, statusOf, success } from "../src/domain/index.ts";
import type { Contract, SourceDefinition } from "../src/sources/index.ts";
import { type DemoReceiver, REGISTERED_ORIGIN, startDemoReceiver } from "./demo-receiver.ts";
import type { PlatformProof, ProofEvent, ProofHandshake, ProofRequest } from "./platform-proof.ts";

/** What a platform was sent for one column of the table. */
export interface DemoCheck {
  /** What was got, or why nothing was sent. */
  readonly got: string;
  /** What else should have been got; undefined where it is right. */
  readonly expected?: string;
}

export const COLUMNS = ["valid", "flipped bit", "stale", "duplicate", "handshakes", "effects"] as const;

export interface DemoRow {
  /** The source's name, which is the preset's. */
  readonly platform: string;
  readonly checks: Readonly<Record<(typeof COLUMNS)[number], DemoCheck>>;
}

interface DemoSource {
  readonly name: string;
  readonly proof: PlatformProof;
  readonly definition: SourceDefinition;
  readonly contract: Contract;
  /** What signs the callback: the oldest secret of a rotation. */
  readonly signingSecret: string;
}

/**
 * Sends callbacks of every platform to one receiver over HTTP, and counts their effects in its database.
 * @returns a row for each proof
 */
export async function runPlatformDemo(proofs: readonly PlatformProof[]): Promise<DemoRow[]> {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-platforms-"));
  const stops: (() => Promise<void>)[] = [];
  try {
    for (const proof of proofs) {
      const stop = await proof.start?.();
      if (stop !== undefined) stops.unshift(stop);
    }
    const sources = await createSources(proofs);
    const definitions = Object.fromEntries(sources.map(({ name, definition }) => [name, definition]));
    const receiver = await startDemoReceiver(join(folder, "oncehook.db"), definitions);
    stops.unshift(() => receiver.stop());
    const sent: { source: DemoSource; checks: Omit<DemoRow["checks"], "effects"> }[] = [];
    for (const source of sources) sent.push({ source, checks: await sendAll(source, receiver) });
    const effects = receiver.countEffects();
    return sent.map(({ source: { name, contract }, checks }) => {
      // A source whose platform sends neither id nor time takes each of the two deliveries for an event.
      const expected = contract.identity === "delivery" ? "2" : "1";
      return {
        platform: name,
        checks: { ...checks, effects: check(String(effects.get(name) ?? 0), expected) },
      };
    });
  } finally {
    for (const stop of stops) await stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function createSources(proofs: readonly PlatformProof[]): Promise<DemoSource[]> {
  const sources: DemoSource[] = [];
  for (const proof of proofs) {
    const { preset, secrets } = proof;
    const others = sources.filter((other) => other.proof.preset === preset).length;
    const name = others === 0 ? preset : `${preset}-${others + 1}`;
    const known = knownSecrets(proof);
    const definition = await proof.source(known);
    const environment = { name, clock: { now: () => new Date() }, origin: () => REGISTERED_ORIGIN };
    const contract = definition.createContract(environment);
    sources.push({ name, proof, definition, contract, signingSecret: known.at(-1) ?? secrets[0] });
  }
  return sources;
}

/** What the source is configured with: the current secret first. */
function knownSecrets({ secrets, rotates, learns }: PlatformProof): readonly string[] {
  if (learns) return [];
  return rotates === false ? secrets.slice(0, 1) : secrets;
}

async function sendAll(source: DemoSource, { origin }: DemoReceiver) {
  const { proof } = source;
  const send = (request: ProofRequest) => post(`${origin}/api/${source.name}/callback`, request);
  // A platform asks before it sends events, and may send its secret then.
  const handshakes = await checkHandshakes(source, send);
  const request = await proof.callback(eventOf(source, "evt-demo-1"));
  return {
    valid: checkStatus(await send(request), source, success({})),
    "flipped bit": await checkFlippedBit(source, send),
    stale: await checkStale(source, send),
    duplicate: checkStatus(await send(request), source, {
      kind: "already_processed",
      result: null,
      isSameBody: true,
    }),
    handshakes,
  };
}

type Send = (request: ProofRequest) => Promise<SentResponse>;

function eventOf({ name, signingSecret }: DemoSource, id: string, over: Partial<ProofEvent> = {}): ProofEvent {
  const url = `${REGISTERED_ORIGIN}/api/${name}/callback`;
  return { secret: signingSecret, id, now: new Date(), url, ...over };
}

async function checkFlippedBit(source: DemoSource, send: Send): Promise<DemoCheck> {
  if (source.proof.signsBody === false) return { got: "body not signed" };
  const request = await source.proof.callback(eventOf(source, "evt-demo-flipped"));
  if (request.body.length === 0) return { got: "no body" };
  const body = Buffer.from(request.body);
  const middle = Math.floor(body.length / 2);
  body[middle] = (body[middle] as number) ^ 1;
  return checkStatus(await send({ ...request, body }), source, refused("signature_mismatch"));
}

const LATE_SECONDS = 60;

async function checkStale(source: DemoSource, send: Send): Promise<DemoCheck> {
  const { toleranceSeconds } = source.proof;
  if (toleranceSeconds === null) return { got: "no window" };
  const now = new Date(Date.now() - (toleranceSeconds + LATE_SECONDS) * 1_000);
  const request = await source.proof.callback(eventOf(source, "evt-demo-stale", { now }));
  return checkStatus(await send(request), source, refused("timestamp_stale"));
}

async function checkHandshakes(source: DemoSource, send: Send): Promise<DemoCheck> {
  const { handshakes = [], secrets } = source.proof;
  const wrong: string[] = [];
  for (const handshake of handshakes) {
    const request = await handshake.request(eventOf(source, "evt-demo-asked", { secret: secrets[0] }));
    const problem = handshakeProblem(await send(request), handshake, request);
    if (problem !== undefined) wrong.push(problem);
  }
  if (handshakes.length === 0) return { got: "none" };
  const got = `${handshakes.length - wrong.length} of ${handshakes.length}`;
  return wrong.length === 0 ? { got } : { got, expected: wrong.join("; ") };
}

function handshakeProblem(
  got: SentResponse,
  { title, response: expected }: ProofHandshake,
  { method }: ProofRequest,
): string | undefined {
  const problems = [
    got.status === expected.status ? [] : `the status ${expected.status}, got ${got.status}`,
    // RFC 9110 §9.3.2: a response to HEAD has no body.
    method === "HEAD" || expected.body === undefined || got.body === expected.body
      ? []
      : `the body ${JSON.stringify(expected.body)}, got ${JSON.stringify(got.body)}`,
    Object.entries(expected.headers ?? {}).flatMap(([name, value]) => {
      const found = got.headers.get(name);
      return found === value ? [] : `the header ${name}: ${value}, got ${found ?? "none"}`;
    }),
  ].flat();
  return problems.length === 0 ? undefined : `${title}: ${problems.join(", ")}`;
}

interface SentResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

const TIME_LIMIT_MS = 10_000;

async function post(url: string, request: ProofRequest): Promise<SentResponse> {
  const { method = "POST", query = "", headers, body } = request;
  const response = await fetch(`${url}${query}`, {
    method,
    headers,
    redirect: "manual",
    signal: AbortSignal.timeout(TIME_LIMIT_MS),
    ...(method === "POST" && { body: new Uint8Array(body) }),
  });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

/** The platform's own status for the outcome, where its contract has one. */
function checkStatus({ status, body }: SentResponse, { contract }: DemoSource, outcome: ResponseOutcome): DemoCheck {
  const expected = contract.respond?.(outcome)?.status ?? statusOf(outcome);
  return status === expected ? { got: String(status) } : { got: `${status} ${body}`, expected: `${expected}` };
}

function check(got: string, expected: string): DemoCheck {
  return got === expected ? { got } : { got, expected };
}
