import { type FaultCode, PLATFORM } from "../../domain/index.ts";
import { platformHmac } from "../schemes/hmac-data.ts";
import type { NamedSecret } from "./candidates.ts";
import type { DiagnosedSource } from "./diagnose.ts";

interface Accepted {
  /** The current one first. */
  readonly secrets: readonly string[];
  /** Those of other environments. */
  readonly named: readonly NamedSecret[];
  readonly tokens: NonNullable<DiagnosedSource["tokens"]>;
}

/** Of the refusals without a detail. */
const MEANINGS: Partial<Record<FaultCode, string>> = {
  token_missing:
    "The header that carries the token (`CALLBACK_TOKEN_HEADER`, `JWT_HEADER`) is missing, or not `Bearer <token>` in `Authorization`.",
  token_repeated: "The header of the signature or token is repeated, or holds several signatures.",
  jwt_malformed: "The token is not a compact JWT, or names another algorithm than `JWT_ALGORITHM`.",
  jwt_signature: "No configured key made the JWT's signature, or its `kid` names none of them.",
  jwt_claims: "The JWT's key is known, but a claim is missing, expired, not valid yet or unexpected.",
  jwt_body_mismatch:
    "The hash in `JWT_BODY_CLAIM` is not the body's: the body was changed, or the token belongs to another one.",
};

/** The built-in protocol (`platform`) as a diagnosis takes it, in the words of its variables. */
export function builtInProtocol({ secrets, named, tokens }: Accepted): DiagnosedSource {
  return {
    ...{ name: PLATFORM, title: "the platform", isOwn: false, named, otherSources: [], tokens },
    hmac: platformHmac(null),
    secrets: () => secrets,
    secretName: (index) => (index === 0 ? "SIGNING_SECRET" : "SIGNING_SECRET_PREVIOUS"),
    words: {
      // Those of every code are written for it.
      remedies: {},
      explain({ code, detail, message }) {
        if (code.startsWith("timestamp_")) return `The signature is correct; ${detail ?? message}.`;
        return detail ? `The JWT was refused: ${detail}.` : (MEANINGS[code] ?? message);
      },
    },
  };
}
