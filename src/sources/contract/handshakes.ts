import { type Refused, refused } from "../../domain/index.ts";
import { type BodyData, type BodyFormat, createBodyDecoder } from "../formats/body-formats.ts";
import { optionError } from "../option-error.ts";
import type { SignedRequest } from "../request.ts";
import { tokenMatcher } from "../token-match.ts";
import type { HandshakeResponse } from "./contract.ts";
import { compileReply, type HandshakeEnvironment, type HandshakeReply } from "./handshake-replies.ts";
import { compileText } from "./locate.ts";
import { CallbackReading, type Readable } from "./reading.ts";

/**
 * A request that carries no event: the platform asks whether the address is ours, or whether it responds. A request is
 * this handshake where all conditions hold.
 */
export interface Handshake {
  /** False for one that is unsigned by the platform's design: it is asked before the signature. */
  readonly isSigned: boolean;
  /** Default POST. */
  readonly method?: "GET" | "HEAD" | "POST";
  /** By place: the text or integer that it must hold, or true for any: `{ "query.hub.mode": "subscribe" }`. */
  readonly when?: Readonly<Record<string, string | true>>;
  /** A header that such a request never has: the signature's. */
  readonly without?: string;
  /** The body has no bytes. */
  readonly isEmpty?: true;
  /** The texts that an operator enters at the platform, compared in constant time. Any other is refused with 401. */
  readonly verifyToken?: { readonly at: string; readonly values: readonly string[] };
  /** Left out for the format of the source's events. */
  readonly body?: BodyFormat;
  readonly reply: HandshakeReply;
}

/** A question to the address that wants its text at a place back. */
export function echoOf(at: string, method: "GET" | "POST" = "POST"): Handshake {
  return { isSigned: false, method, when: { [at]: true }, reply: { kind: "text", at } };
}

type AnswerHandshake = () => HandshakeResponse;

/** A handshake is small. A longer body is left unread. */
const MAX_UNSIGNED_BYTES = 4_096;

/** @throws TypeError for an invalid place, when the source is created */
export function compileHandshake(handshake: Handshake, source: BodyData, environment: HandshakeEnvironment) {
  requireSafe(handshake);
  const { isSigned, method = "POST", without, isEmpty, verifyToken } = handshake;
  const absent = without?.toLowerCase();
  const conditions = Object.entries(handshake.when ?? {}).map(([place, expected]) => ({
    location: compileText(place),
    expected,
  }));
  const checkToken = verifyToken === undefined ? undefined : compileVerifyToken(verifyToken);
  const reply = compileReply(handshake.reply, environment);
  const rules = {
    decode: createBodyDecoder(bodyOf(handshake, source)),
    origin: environment.origin,
    hashBytes: (reading: Readable) => reading.bodySha256(),
  };
  return {
    isSigned,
    method,
    /** @returns a function that makes the response; undefined where the request is not this handshake */
    match(request: SignedRequest, verified?: CallbackReading): AnswerHandshake | undefined {
      const { body, headers } = request;
      if (request.method !== method || (isEmpty === true && body.length > 0)) return undefined;
      if (absent !== undefined && Object.hasOwn(headers, absent)) return undefined;
      if (!isSigned && body.length > MAX_UNSIGNED_BYTES) return undefined;
      const ofEvents = handshake.body === undefined ? verified : undefined;
      const reading = ofEvents ?? new CallbackReading(request, rules);
      for (const { location, expected } of conditions) {
        const value = location.read(reading);
        if (!("text" in value) || (expected !== true && value.text !== expected)) return undefined;
      }
      return () => checkToken?.(reading) ?? reply(reading);
    },
  };
}

/** A handshake in a format of its own is not encrypted. */
function bodyOf({ body }: Handshake, { body: usual, decrypt }: BodyData): BodyData {
  if (body !== undefined) return { body };
  return { ...(usual !== undefined && { body: usual }), ...(decrypt !== undefined && { decrypt }) };
}

/** Without a condition every event would be taken for the handshake, and lost. */
function requireSafe({ isSigned, method, when = {}, isEmpty, verifyToken, reply }: Handshake): void {
  const isAnyPost = (method ?? "POST") === "POST" && Object.keys(when).length === 0 && isEmpty !== true;
  if (isAnyPost)
    throw optionError(undefined, "a POST without a condition", "`when` or `isEmpty`, so that no event is taken for it");
  if (reply.kind === "visit" && !isSigned)
    throw optionError(undefined, "an unsigned visit of an address", "`isSigned: true`");
  if (verifyToken?.values.includes("") || verifyToken?.values.length === 0)
    throw optionError(undefined, "an empty `verifyToken`", "the text that you enter at the platform");
}

function compileVerifyToken({ at, values }: NonNullable<Handshake["verifyToken"]>) {
  const location = compileText(at);
  const indexOf = tokenMatcher(values);
  return (reading: CallbackReading): Refused | undefined => {
    const token = location.read(reading);
    if ("fault" in token) return refused("token_mismatch", { detail: `\`${location.name}\`: ${token.fault}` });
    if (indexOf(token.text) !== -1) return undefined;
    return refused("token_mismatch", { detail: `\`${location.name}\` is not the configured verify token` });
  };
}

/** The first handshake that the request is. */
export function matchHandshake(
  handshakes: readonly ReturnType<typeof compileHandshake>[],
  request: SignedRequest,
  reading?: CallbackReading,
): AnswerHandshake | undefined {
  for (const handshake of handshakes) {
    const answer = handshake.match(request, reading);
    if (answer !== undefined) return answer;
  }
  return undefined;
}
