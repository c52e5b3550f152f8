import { createHash, createHmac, createSecretKey, timingSafeEqual } from "node:crypto";
import type { Clock, Refused } from "../../domain/index.ts";
import { type BareItem, type InnerList, parseDictionary, serializeInnerList } from "../formats/structured-fields.ts";
import { optionError } from "../option-error.ts";
import type { SignedRequest } from "../request.ts";
import { isSignedBy, namedPublicKey, type SignatureAlgorithm } from "./public-keys.ts";
import { type Credential, malformed, missingCredential, refuse, type Scheme } from "./scheme.ts";
import { ageFault } from "./timestamp.ts";

/** Of RFC 9421 §3.3, by its registered name. */
export type MessageSignatureAlgorithm =
  | "ed25519"
  | "ecdsa-p256-sha256"
  | "hmac-sha256"
  | "rsa-pss-sha512"
  | "rsa-v1_5-sha256";

export interface MessageSignatureKey {
  /** The `keyid` that names it. */
  readonly id: string;
  /** The one that this key is used with, whatever `alg` says. */
  readonly algorithm: MessageSignatureAlgorithm;
  /** A public key in PEM or in base64 as platforms show it; of HMAC, the secret's bytes. */
  readonly key: string | Uint8Array;
}

export interface MessageSignatureOptions {
  /** The current one first. */
  readonly keys: readonly MessageSignatureKey[];
  /** How far `created` may lie from now, both ways. */
  readonly toleranceSeconds: number;
  /** The required components beside `content-digest`. Default: `@method` and `@path`. */
  readonly required?: readonly string[];
  /** The `tag` that a platform gives its signatures; others are not looked at then. */
  readonly tag?: string;
  readonly clock: Clock;
  /** Scheme and host that the platform has registered, without a path: `@authority` and `@target-uri` come from it. */
  readonly origin: () => string;
}

interface Verifier {
  readonly id: string;
  readonly algorithm: MessageSignatureAlgorithm;
  readonly method: Credential["method"];
  verify(base: Uint8Array, signature: Buffer): boolean;
}

const MAX_SIGNATURES = 8;
/** `expires` is the platform's own limit, so it is moved by what clocks differ and no more. */
const CLOCK_SKEW_SECONDS = 5;

/**
 * HTTP Message Signatures (RFC 9421) of requests, with the digest of the body (RFC 9530). A signature must cover the
 * digest where there is a body. One valid signature is enough. Components with parameters (`;sf`, `;req`,
 * `@query-param`) are refused.
 * @throws TypeError for a key that does not fit its algorithm
 */
export function createMessageSignatureScheme(options: MessageSignatureOptions): Scheme {
  const verifiers = options.keys.map(verifierOf);
  if (verifiers.length === 0) throw optionError("keys", "none", "at least one");
  return {
    challenge: 'Signature realm="callbacks", spec="rfc9421"',
    isCostly: true,
    verify(request) {
      const claims = readClaims(request, options.tag);
      if (!Array.isArray(claims)) return claims;
      let refusal: Refused | undefined;
      for (const claim of claims) {
        const result = judge(claim, request, { required: ["@method", "@path"], ...options, verifiers });
        if ("verified" in result) return result;
        refusal ??= result;
      }
      return refusal ?? missing();
    },
  };
}

const ALGORITHMS: Readonly<Record<Exclude<MessageSignatureAlgorithm, "hmac-sha256">, SignatureAlgorithm>> = {
  ed25519: "ed25519",
  "ecdsa-p256-sha256": "ecdsa-p256-sha256",
  "rsa-pss-sha512": "rsa-pss-sha512",
  "rsa-v1_5-sha256": "rsa-sha256",
};

function verifierOf({ id, algorithm, key }: MessageSignatureKey): Verifier {
  if (algorithm === "hmac-sha256") {
    const secret = createSecretKey(secretOf(id, key));
    const digest = (base: Uint8Array) => createHmac("sha256", secret).update(base).digest();
    return {
      ...{ id, algorithm, method: "hmac" },
      verify: (base, signature) => signature.length === 32 && timingSafeEqual(digest(base), signature),
    };
  }
  const signatureAlgorithm = ALGORITHMS[algorithm];
  const text = typeof key === "string" ? key : Buffer.from(key).toString("base64");
  const publicKey = namedPublicKey({ option: `keys.${id}` }, text, signatureAlgorithm, "base64");
  return {
    ...{ id, algorithm, method: "public_key" },
    verify: (base, signature) =>
      isSignedBy(publicKey, signatureAlgorithm, { content: [base], signature, format: "p1363" }),
  };
}

const MIN_SECRET_BYTES = 16;

function secretOf(id: string, key: string | Uint8Array): Buffer {
  const secret = Buffer.from(key);
  if (secret.length >= MIN_SECRET_BYTES) return secret;
  throw optionError(`keys.${id}`, `${secret.length} bytes`, `a secret of at least ${MIN_SECRET_BYTES}`);
}

interface Claim {
  readonly label: string;
  readonly input: InnerList;
  readonly signature: Buffer;
}

function readClaims({ headers }: SignedRequest, tag: string | undefined): Claim[] | Refused {
  const [inputs, signatures] = [headers["signature-input"] ?? [], headers.signature ?? []];
  if (inputs.length === 0 || signatures.length === 0) return missing();
  const [input, signature] = [parseDictionary(inputs), parseDictionary(signatures)];
  if (input === undefined) return malformed("`Signature-Input`: expected a dictionary of RFC 9651");
  if (signature === undefined) return malformed("`Signature`: expected a dictionary of RFC 9651");
  const claims: Claim[] = [];
  for (const [label, list] of input) {
    const member = signature.get(label);
    const bytes = member !== undefined && "item" in member ? member.item : undefined;
    if (!("items" in list)) return malformed(`\`Signature-Input\`: ${label} is no list of components`);
    if (bytes?.type !== "bytes") return malformed(`\`Signature\`: ${label} is no byte sequence`);
    if (tag === undefined || stringItem(list.parameters.get("tag")) === tag)
      claims.push({ label, input: list, signature: bytes.value });
  }
  if (claims.length > MAX_SIGNATURES) return malformed(`\`Signature-Input\`: more than ${MAX_SIGNATURES} signatures`);
  return claims.length > 0 ? claims : missing();
}

interface Judging extends MessageSignatureOptions {
  readonly required: readonly string[];
  readonly verifiers: readonly Verifier[];
}

function judge({ label, input, signature }: Claim, request: SignedRequest, options: Judging) {
  const covered = coveredComponents(input);
  if (!Array.isArray(covered)) return covered;
  const ofBody = request.body.length === 0 ? [] : ["content-digest"];
  const uncovered = [...options.required, ...ofBody].find((name) => !covered.includes(name));
  if (uncovered !== undefined) return malformed(`\`${label}\`: does not cover ${uncovered}`);
  const base = signatureBase(covered, input, request, options.origin);
  if (typeof base !== "string") return base;
  const { parameters } = input;
  const [id, algorithm] = [parameters.get("keyid"), parameters.get("alg")];
  const bytes = Buffer.from(base, "latin1");
  const index = options.verifiers.findIndex((verifier) => {
    const isNamed = id === undefined || stringItem(id) === verifier.id;
    const isFit = algorithm === undefined || stringItem(algorithm) === verifier.algorithm;
    return isNamed && isFit && verifier.verify(bytes, signature);
  });
  const verifier = options.verifiers[index];
  if (verifier === undefined)
    return refuse("signature_mismatch", `\`${label}\`: made by no configured key of its keyid and alg`);
  const fault =
    timeFault(label, input, options) ?? (covered.includes("content-digest") ? digestFault(request) : undefined);
  if (fault !== undefined) return fault;
  // A callback may have several signatures, of which a copy keeps any.
  const lines = base.split("\n").filter((_, place) => options.required.includes(covered[place] ?? ""));
  const time = String(parameters.get("created")?.value);
  const signedText = (body: string, hasTime: boolean) => [...lines, hasTime ? time : "", body].join("\n");
  return { verified: [{ method: verifier.method, index }], signedText };
}

const COMPONENT = /^(?:@[a-z-]+|[a-z0-9!#$%&'*+\-.^_`|~]+)$/;
const DERIVED = ["@method", "@target-uri", "@authority", "@scheme", "@request-target", "@path", "@query"];

/** Whether a signature may cover a component of this name here. */
export function isComponent(name: string): boolean {
  return COMPONENT.test(name) && (!name.startsWith("@") || DERIVED.includes(name));
}

function coveredComponents({ items }: InnerList): string[] | Refused {
  const names: string[] = [];
  for (const { item, parameters } of items) {
    if (item.type !== "string" || !COMPONENT.test(item.value)) return malformed("a component is no name in lower case");
    if (parameters.size > 0) return malformed(`"${item.value}": no parameter of a component is understood`);
    if (names.includes(item.value)) return malformed(`"${item.value}": stands twice among the components`);
    names.push(item.value);
  }
  return names;
}

/** Of latin1: another character would lose its upper byte, and stand for one that was signed. */
const SENT = /^[\t\x20-\x7e\x80-\xff]*$/;

/** RFC 9421 §2.5, as latin1. */
function signatureBase(
  covered: readonly string[],
  input: InnerList,
  request: SignedRequest,
  origin: () => string,
): string | Refused {
  const lines: string[] = [];
  for (const name of covered) {
    // §2.1. Node gives each value without white space around it: cutting more off would let one id have two spellings.
    const value = name.startsWith("@") ? derived(name, request, origin) : request.headers[name]?.join(", ");
    if (value === undefined) return malformed(`"${name}": not in the request, or not understood`);
    if (!SENT.test(value)) return malformed(`"${name}": has a character that cannot be sent`);
    lines.push(`"${name}": ${value}`);
  }
  lines.push(`"@signature-params": ${serializeInnerList(input)}`);
  return lines.join("\n");
}

/** RFC 9421 §2.2. The address is the one that is registered: the sender chooses `Host`. */
function derived(name: string, { method, target }: SignedRequest, origin: () => string): string | undefined {
  const query = target.indexOf("?");
  if (name === "@method") return method;
  if (name === "@target-uri") return origin() + target;
  if (name === "@authority") return new URL(origin()).host;
  if (name === "@scheme") return new URL(origin()).protocol.slice(0, -1);
  if (name === "@request-target") return target;
  if (name === "@path") return (query === -1 ? target : target.slice(0, query)) || "/";
  return name === "@query" ? (query === -1 ? "?" : target.slice(query)) : undefined;
}

function timeFault(label: string, { parameters }: InnerList, { toleranceSeconds, clock }: Judging) {
  const now = clock.now().getTime() / 1_000;
  const created = parameters.get("created");
  const expires = parameters.get("expires");
  if (created?.type !== "integer") return refuse("timestamp_missing", `\`${label}\`: created is missing`);
  const stale = (detail: string) => refuse("timestamp_stale", `\`${label}\`: ${detail}`);
  const fault = ageFault(now - created.value, toleranceSeconds);
  if (fault !== undefined) return stale(`created ${fault}`);
  if (expires === undefined) return undefined;
  if (expires.type !== "integer") return malformed(`\`${label}\`: expires is no integer`);
  const over = Math.round(now - expires.value);
  return over > CLOCK_SKEW_SECONDS ? stale(`expired ${over} s ago`) : undefined;
}

/** RFC 9530 §2: each digest of a known algorithm must be the body's, and there must be one. */
function digestFault({ headers, body }: SignedRequest): Refused | undefined {
  const digests = parseDictionary(headers["content-digest"] ?? []);
  let supported = 0;
  for (const [name, algorithm] of [
    ["sha-256", "sha256"],
    ["sha-512", "sha512"],
  ] as const) {
    const member = digests?.get(name);
    if (member === undefined) continue;
    const claimed = "item" in member && member.item.type === "bytes" ? member.item.value : Buffer.of();
    const digest = createHash(algorithm).update(body).digest();
    if (claimed.length !== digest.length || !timingSafeEqual(claimed, digest))
      return refuse("signature_mismatch", `\`Content-Digest\`: its ${name} is not the body's`);
    supported += 1;
  }
  return supported > 0 ? undefined : malformed("`Content-Digest`: expected sha-256 or sha-512");
}

function stringItem(item: BareItem | undefined): string | undefined {
  return item?.type === "string" ? item.value : undefined;
}

function missing(): Refused {
  return missingCredential("signature_missing", "`Signature`, `Signature-Input`: expected both");
}
