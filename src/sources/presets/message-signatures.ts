import {
  createMessageSignatureScheme,
  type MessageSignatureKey,
} from "../schemes/http-message-signatures.ts";
import type { SourceDefinition, SourceSettings } from "../source-definition.ts";
import { assertOneOf, assertOptions, assertText, contractOf, type OwnContract } from "./own-source.ts";
import { defineSource } from "./preset.ts";

/** A sender that signs by RFC 9421, HTTP Message Signatures. */
export interface MessageSignatureSourceOptions extends SourceSettings, OwnContract {
  /** All of them verify, each under its `keyid`; the current one first. */
  readonly keys: readonly MessageSignatureKey[];
  /** How far `created` may lie from now, both ways. Default 300. */
  readonly toleranceSeconds?: number;
  /** What must be covered beside `content-digest`. Default `@method` and `@path`. */
  readonly required?: readonly string[];
  /** The `tag` of the sender's signatures; others are not looked at then. */
  readonly tag?: string;
}

/** The components that hold the path (RFC 9421 §2.2). */
const PATHS = ["@path", "@target-uri", "@request-target"];
const OWN = ["keys", "toleranceSeconds", "required", "tag"];
const ALGORITHMS = [
  "ed25519",
  "ecdsa-p256-sha256",
  "hmac-sha256",
  "rsa-pss-sha512",
  "rsa-v1_5-sha256",
] satisfies MessageSignatureKey["algorithm"][];

/** HTTP Message Signatures (RFC 9421) with a digest of the body (RFC 9530). @throws TypeError that names what is wrong */
export function messageSignatures(options: MessageSignatureSourceOptions): SourceDefinition {
  assertOptions("messageSignatures", options, OWN);
  const { keys, toleranceSeconds = 300, required, tag } = options;
  assertKeys(keys);
  if (!Number.isFinite(toleranceSeconds) || toleranceSeconds <= 0)
    throw new TypeError("messageSignatures: `toleranceSeconds`: expected seconds, such as 300");
  const shared = keys.flatMap(({ algorithm, key }) =>
    algorithm === "hmac-sha256" && typeof key === "string" ? [key] : [],
  );
  return defineSource({
    preset: "message-signatures",
    facts: { title: "HTTP Message Signatures", docs: "docs/sources.md", proof: "own" },
    settings: options,
    secrets: shared,
    scheme: ({ clock, origin }) =>
      createMessageSignatureScheme({
        ...{ keys, toleranceSeconds, clock, origin },
        ...(required !== undefined && { required }),
        ...(tag !== undefined && { tag }),
      }),
    contract: contractOf(options, OWN),
    signsPath: (required ?? ["@path"]).some((name) => PATHS.includes(name)),
  });
}

function assertKeys(keys: unknown): asserts keys is readonly MessageSignatureKey[] {
  if (!Array.isArray(keys) || keys.length === 0)
    throw new TypeError("messageSignatures: `keys`: got none, expected [{ id, algorithm, key }]");
  for (const [place, one] of keys.entries()) {
    const { id, algorithm, key } = (one ?? {}) as Partial<MessageSignatureKey>;
    assertText("messageSignatures", `keys[${place}].id`, id, "the keyid of the sender's signatures");
    assertOneOf("messageSignatures", `keys[${place}].algorithm`, algorithm, ALGORITHMS);
    if (!(key instanceof Uint8Array))
      assertText("messageSignatures", `keys[${place}].key`, key, "a key in PEM");
  }
}
