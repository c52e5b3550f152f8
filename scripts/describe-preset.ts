import { idOf } from "../src/sources/contract/event-contract.ts";
import type { Handshake } from "../src/sources/contract/handshakes.ts";
import { type EventIdentity, identityOf } from "../src/sources/contract/identity.ts";
import type { TextPlace } from "../src/sources/contract/locate.ts";
import type { PresetData } from "../src/sources/presets/preset.ts";
import type { HmacData, MacAlgorithm } from "../src/sources/schemes/hmac-data.ts";
import type { SignatureAlgorithm } from "../src/sources/schemes/public-keys.ts";
import type { PlatformFacts } from "../src/sources/source-definition.ts";

type SignedBy = Exclude<PresetData["signs"], readonly unknown[]>;

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

/** The words of docs/platforms.md for what a preset is. */
export function describePreset({ preset, facts, signs, contract }: PresetData): PresetDescription {
  return {
    preset,
    facts,
    signs: [signs].flat().map(describeSigner).join("; or "),
    id: describePlaces(contract.id),
    identity: identityOf(contract, contract.isIdSigned ?? idOf(contract).isSigned),
    type: describePlaces(contract.type),
    handshakes: [...new Set((contract.handshakes ?? []).map(describeHandshake))],
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

const ALGORITHMS = {
  sha1: "HMAC-SHA1",
  sha256: "HMAC-SHA256",
  sha512: "HMAC-SHA512",
  "plain-sha1": "SHA-1",
  "plain-sha256": "SHA-256",

  ed25519: "Ed25519",
  "ecdsa-p256-sha1": "ECDSA-P256-SHA1",
  "ecdsa-p256-sha256": "ECDSA-P256-SHA256",
  "rsa-sha1": "RSA-SHA1",
  "rsa-sha256": "RSA-SHA256",
  "rsa-sha512": "RSA-SHA512",
  "rsa-pss-sha256": "RSA-PSS-SHA256",
  "rsa-pss-sha512": "RSA-PSS-SHA512",
} as const satisfies Record<MacAlgorithm | SignatureAlgorithm, string>;

function describeSigner(signer: SignedBy): string {
  if (typeof signer === "string") return signer;
  const { algorithm = "sha256", signed, timestamp } = signer;
  return `${ALGORITHMS[algorithm]} over ${codeOf(signed)}${describeTolerance(timestamp)}`;
}

/** A line break would end the row. */
function codeOf(template: string): string {
  return `\`${template.replaceAll("\n", "\\n")}\``;
}

function describeTolerance(rule: HmacData["timestamp"]): string {
  return rule === undefined || rule.toleranceSeconds === null ? "" : `, ${rule.toleranceSeconds} s`;
}
