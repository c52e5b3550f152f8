import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { fromCanonicalBase64url } from "../domain/index.ts";
import { SealBroken, type Sealer } from "../seal/index.ts";

/** What a flow that was started here needs at its end. */
export interface Flow {
  readonly codeVerifier: string;
  readonly nonce: string;
  readonly redirectUri: string;
  readonly endsAt: Date;
}

/** A flow has this long, from its start to its redirect. */
export const FLOW_SECONDS = 600;

const SECRET_BYTES = 32;
const TIME_BYTES = 6;
const BINDING_BYTES = 16;
const SEED_BYTES = 16;
const STATE_BYTES = TIME_BYTES + BINDING_BYTES + SEED_BYTES;
/** Of the sealed bytes as base64url. The text is the state's identity, so only the canonical one of its bytes opens. */
const STATE = /^[\w-]{95}$/;

/**
 * A new flow. Its state is its own memory, encrypted: when it ends, in which browser it was started, and a seed. Verifier (RFC 7636
 * §4.1) and nonce are derived from the seed and the browser's secret, so that nothing is kept here until the flow has ended.
 * @param browser the secret of the browser's cookie
 */
export function newFlow(
  redirectUri: string,
  browser: string,
  now: Date,
  sealer: Sealer,
): { readonly state: string; readonly flow: Flow } {
  const plain = Buffer.alloc(STATE_BYTES);
  const endsAt = now.getTime() + FLOW_SECONDS * 1_000;
  plain.writeUIntBE(endsAt, 0, TIME_BYTES);
  bindingOf(browser).copy(plain, TIME_BYTES);
  randomBytes(SEED_BYTES).copy(plain, TIME_BYTES + BINDING_BYTES);
  const state = Buffer.from(sealer.seal(plain, contextOf(redirectUri))).toString("base64url");
  return { state, flow: flowOf(plain, redirectUri, browser) };
}

/**
 * The flow that a state was made for.
 * @param browser the secret of the browser that brings it, if it brings one
 * @returns "unknown" for a state that was not made here, or has expired
 */
export function openFlow(
  state: string,
  redirectUri: string,
  browser: string | undefined,
  { now, sealer }: { readonly now: Date; readonly sealer: Sealer },
): Flow | "unknown" | "of another browser" {
  const plain = STATE.test(state) ? opened(state, redirectUri, sealer) : undefined;
  if (plain === undefined) return "unknown";
  const left = plain.readUIntBE(0, TIME_BYTES) - now.getTime();
  // A clock that was set back must not lengthen a flow by more than its own time.
  if (left <= 0 || left > 2 * FLOW_SECONDS * 1_000) return "unknown";
  const binding = plain.subarray(TIME_BYTES, TIME_BYTES + BINDING_BYTES);
  if (browser === undefined || !timingSafeEqual(bindingOf(browser), binding)) return "of another browser";
  return flowOf(plain, redirectUri, browser);
}

export function secret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

function opened(state: string, redirectUri: string, sealer: Sealer): Buffer | undefined {
  const sealed = fromCanonicalBase64url(state);
  if (sealed === undefined) return undefined;
  try {
    const plain = Buffer.from(sealer.open(sealed, contextOf(redirectUri)));
    return plain.length === STATE_BYTES ? plain : undefined;
  } catch (error) {
    if (error instanceof SealBroken) return undefined;
    throw error;
  }
}

function flowOf(plain: Buffer, redirectUri: string, browser: string): Flow {
  const derived = (purpose: string): string =>
    createHmac("sha256", browser).update(purpose).update(plain).digest("base64url");
  const endsAt = new Date(plain.readUIntBE(0, TIME_BYTES));
  return { codeVerifier: derived("code verifier "), nonce: derived("nonce "), redirectUri, endsAt };
}

function bindingOf(browser: string): Buffer {
  return createHash("sha256").update(browser).digest().subarray(0, BINDING_BYTES);
}

function contextOf(redirectUri: string): string {
  return `OAuth state for ${redirectUri}`;
}
