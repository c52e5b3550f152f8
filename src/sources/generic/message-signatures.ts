import { optionError, wrongOption } from "../option-error.ts";
import { assertOneOf, assertText } from "../presets/options.ts";
import { type OwnContract, ownSource } from "../presets/own-source.ts";
import { type SecretParts, tenantParts } from "../presets/secrets.ts";
import {
  createMessageSignatureScheme,
  isComponent,
  type MessageSignatureKey,
} from "../schemes/http-message-signatures.ts";
import type { Scheme } from "../schemes/scheme.ts";
import type { TenantSecrets } from "../schemes/tenant-scheme.ts";
import type { SourceDefinition, SourceEnvironment, SourceSettings } from "../source-definition.ts";

/** A sender that signs by RFC 9421, HTTP Message Signatures. */
export interface MessageSignatureSourceOptions extends SourceSettings, OwnContract {
  /**
   * All of them verify, each under its `keyid`; the current one first. A function of the path's parameters where each tenant has
   * keys of its own.
   */
  readonly keys: readonly MessageSignatureKey[] | TenantSecrets<MessageSignatureKey>;
  /** How far `created` may lie from now, both ways. Default 300. */
  readonly toleranceSeconds?: number;
  /**
   * The required components beside `content-digest`, such as `x-event-id`. Default `@method` and `@path`. An id in a header or in
   * the query counts as signed where its component stands here.
   */
  readonly required?: readonly string[];
  /** The `tag` of the sender's signatures; others are not looked at then. */
  readonly tag?: string;
}

/** The components that hold the path (RFC 9421 §2.2). */
const PATHS = ["@path", "@target-uri", "@request-target"];
/** The components that hold the whole query (RFC 9421 §2.2). */
const QUERIES = ["@query", "@target-uri", "@request-target"];
const KIND = {
  preset: "message-signatures",
  title: "HTTP Message Signatures",
  schemeOptions: ["keys", "toleranceSeconds", "required", "tag"],
};
const ALGORITHMS = [
  "ed25519",
  "ecdsa-p256-sha256",
  "hmac-sha256",
  "rsa-pss-sha512",
  "rsa-v1_5-sha256",
] satisfies MessageSignatureKey["algorithm"][];

/** HTTP Message Signatures (RFC 9421) with a digest of the body (RFC 9530). @throws OptionError that names the wrong option */
export function messageSignatures(options: MessageSignatureSourceOptions): SourceDefinition {
  return ownSource(KIND, options, (contract) => {
    const { keys, toleranceSeconds = 300, required, tag } = options;
    if (typeof keys !== "function") assertKeys(keys);
    if (required !== undefined) assertComponents(required);
    if (!Number.isFinite(toleranceSeconds) || toleranceSeconds <= 0)
      throw optionError("toleranceSeconds", String(toleranceSeconds), "seconds, such as 300");
    const make = (verifiers: readonly MessageSignatureKey[], { clock, origin }: SourceEnvironment) => {
      assertKeys(verifiers);
      return createMessageSignatureScheme({
        ...{ keys: verifiers, toleranceSeconds, clock, origin },
        ...(required !== undefined && { required }),
        ...(tag !== undefined && { tag }),
      });
    };
    return {
      ...keyParts(options, make),
      // A sender may cover it although `required` does not name it.
      signsAddress: true,
      credential: { headers: ["Signature"] },
      contract: { ...contract, signs: signedPlaces(required) },
    };
  });
}

/** Components that a sender covers beyond `required` are not counted: a signature without them verifies too. */
function signedPlaces(required: readonly string[] = []): string[] {
  const headers = required.filter((name) => !name.startsWith("@")).map((name) => `header.${name}`);
  return required.some((name) => QUERIES.includes(name)) ? ["query", ...headers] : headers;
}

function keyParts(
  options: MessageSignatureSourceOptions,
  make: (keys: readonly MessageSignatureKey[], environment: SourceEnvironment) => Scheme,
): SecretParts {
  const { keys, required = ["@path"] } = options;
  const signsPath = required.some((name) => PATHS.includes(name));
  const use = { settings: options, option: "keys", signsPath, materialOf };
  if (typeof keys === "function") return tenantParts(keys, use, make);
  const shared = keys.flatMap(({ algorithm, key }) =>
    algorithm === "hmac-sha256" && typeof key === "string" ? [key] : [],
  );
  return {
    signsPath,
    tenantOption: "keys",
    secrets: shared,
    scheme: (environment) => make(keys, environment),
  };
}

/** A key under another id is the same secret; undefined for what is no key. */
function materialOf(secret: unknown): string | Uint8Array | undefined {
  const { id, key } = (secret ?? {}) as { readonly id?: unknown; readonly key?: unknown };
  const isKey = typeof id === "string" && (typeof key === "string" || key instanceof Uint8Array);
  return isKey ? key : undefined;
}

/** No signature covers another name, so that each callback would be refused. */
function assertComponents(required: unknown): asserts required is readonly string[] {
  const names: unknown[] = Array.isArray(required) ? required : [required];
  const wrong = names.findIndex((name) => typeof name !== "string" || !isComponent(name));
  if (wrong === -1 && Array.isArray(required)) return;
  const expected = "a list of components, such as @method or x-event-id in lower case";
  throw wrongOption("required", names[Math.max(wrong, 0)], expected);
}

function assertKeys(keys: unknown): asserts keys is readonly MessageSignatureKey[] {
  if (!Array.isArray(keys) || keys.length === 0) throw wrongOption("keys", undefined, "[{ id, algorithm, key }]");
  for (const [place, one] of keys.entries()) {
    const { id, algorithm, key } = (one ?? {}) as Partial<MessageSignatureKey>;
    assertText(`keys[${place}].id`, id, "the keyid of the sender's signatures");
    assertOneOf(`keys[${place}].algorithm`, algorithm, ALGORITHMS);
    if (!(key instanceof Uint8Array)) assertText(`keys[${place}].key`, key, "a key in PEM");
  }
}
