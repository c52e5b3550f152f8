import { type ContractData, idOf } from "../contract/event-contract.ts";
import type { Handshake } from "../contract/handshakes.ts";
import { type EventIdentity, identityOf } from "../contract/identity.ts";
import type { TextPlace } from "../contract/locate.ts";
import type { HmacData, MacAlgorithm } from "../schemes/hmac-data.ts";
import type { PublicKeyData } from "../schemes/public-key.ts";
import type { SignatureAlgorithm } from "../schemes/public-keys.ts";
import type { PlatformFacts, SourceDefinition } from "../source-definition.ts";

/** What docs/platforms.md says of a preset; each text is Markdown. */
export interface PresetDescription {
  readonly preset: string;
  readonly facts: PlatformFacts;
  /** How the platform signs and what, such as ``HMAC-SHA256 over `{body}` ``. */
  readonly signs: string;
  /** Where the event's id stands. */
  readonly id: string;
  readonly identity: EventIdentity;
  /** Where its type stands. */
  readonly type: string;
  /** What the platform asks of the address, each kind once; empty where it asks nothing. */
  readonly handshakes: readonly string[];
}

/** What a preset is, whatever its options. */
export interface PresetData {
  readonly preset: string;
  readonly facts: PlatformFacts;
  /** For the table of platforms, such as ``HMAC-SHA256 over `timestamp` and `token`, in the body``. */
  readonly signs: string;
  readonly contract: ContractData;
}

/** A preset, of which the page knows without calling it with secrets. */
export type Preset<Options> = ((options: Options) => SourceDefinition) & {
  readonly describe: () => PresetDescription;
};

/** For `<preset>.describe`: made when it is asked for, and not at every start. */
export function describe(data: PresetData | (() => PresetData)): () => PresetDescription {
  return () => {
    const { preset, facts, signs, contract } = typeof data === "function" ? data() : data;
    return {
      preset,
      facts,
      signs,
      id: describePlaces(contract.id),
      identity: identityOf(contract, contract.isIdSigned ?? idOf(contract).isSigned),
      type: describePlaces(contract.type),
      handshakes: [...new Set((contract.handshakes ?? []).map(describeHandshake))],
    };
  };
}

function describePlaces(places: TextPlace | readonly TextPlace[]): string {
  const texts = [places].flat().map((place) => {
    if (typeof place === "function") return "read by the preset";
    if (place === "sha256") return "SHA-256 of what was signed";
    return place.startsWith("=") ? `the text \`${place.slice(1)}\`` : `\`${place}\``;
  });
  return texts.join(", else ");
}

const REPLIES = {
  text: "responds with its text",
  json: "responds with JSON",
  header: "responds with its header",
  learn: "keeps a secret",
  status: "responds",
  visit: "visits an address",
  make: "responds with a proof",
} as const satisfies Record<Handshake["reply"]["kind"], string>;

function describeHandshake({ isSigned, method = "POST", verifyToken, reply }: Handshake): string {
  const proof = verifyToken === undefined ? "unsigned" : "verify token";
  return `${method}, ${isSigned ? "signed" : proof}: ${REPLIES[reply.kind]}`;
}

const MACS = {
  sha1: "HMAC-SHA1",
  sha256: "HMAC-SHA256",
  sha512: "HMAC-SHA512",
  "plain-sha1": "SHA-1",
  "plain-sha256": "SHA-256",
} as const satisfies Record<MacAlgorithm, string>;

export function describeHmac({ algorithm = "sha256", signed, timestamp }: HmacData): string {
  return `${MACS[algorithm]} over ${codeOf(signed)}${describeTolerance(timestamp)}`;
}

const SIGNATURES = {
  ed25519: "Ed25519",
  "ecdsa-p256-sha1": "ECDSA-P256-SHA1",
  "ecdsa-p256-sha256": "ECDSA-P256-SHA256",
  "rsa-sha1": "RSA-SHA1",
  "rsa-sha256": "RSA-SHA256",
  "rsa-sha512": "RSA-SHA512",
  "rsa-pss-sha256": "RSA-PSS-SHA256",
  "rsa-pss-sha512": "RSA-PSS-SHA512",
} as const satisfies Record<SignatureAlgorithm, string>;

export function describeSignature({ algorithm, signed, timestamp }: PublicKeyData): string {
  return `${SIGNATURES[algorithm]} over ${codeOf(signed)}${describeTolerance(timestamp)}`;
}

/** A line break would end the row. */
function codeOf(template: string): string {
  return `\`${template.replaceAll("\n", "\\n")}\``;
}

function describeTolerance(rule: HmacData["timestamp"]): string {
  return rule === undefined || rule.toleranceSeconds === null ? "" : `, ${rule.toleranceSeconds} s`;
}
