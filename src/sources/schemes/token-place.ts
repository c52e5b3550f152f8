import { isUtf8 } from "node:buffer";
import { isRefused, type Refused, refused } from "../../domain/index.ts";
import { parseObject } from "../formats/parse-body.ts";
import type { SignedRequest } from "../request.ts";
import { missingCredential } from "./scheme.ts";

/** The place of a token in a request. */
export interface TokenPlace {
  /** The `WWW-Authenticate` of a 401. */
  readonly challenge: string;
  /** The longest one that is looked at, in characters. Default: 8192. */
  readonly maxLength?: number;
  /** The one token in a request; refused when it is missing or stands more than once. */
  read(request: SignedRequest): string | Refused;
}

const CHALLENGE = 'Token realm="callbacks", in="body"';
const MAX_BODY_TOKEN_LENGTH = 1_048_576;

/**
 * A body that is a token: the text itself (Wix), or one property of a JSON object (`signedPayload` of Apple). It must
 * be taken apart before it is verified. It is bounded as any body, and no other property is read.
 */
export function tokenInBody(property?: string): TokenPlace {
  return {
    challenge: CHALLENGE,
    maxLength: MAX_BODY_TOKEN_LENGTH,
    read({ body }) {
      if (body.length === 0) return missingCredential("token_missing", "the body is empty");
      return property === undefined ? wholeText(body) : propertyOf(body, property);
    },
  };
}

function wholeText(body: Uint8Array): string | Refused {
  if (!isUtf8(body)) return refused("jwt_malformed", { detail: "the body is no text" });
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1");
}

function propertyOf(body: Uint8Array, property: string): string | Refused {
  const parsed = parseObject(body);
  if (isRefused(parsed)) return refused("jwt_malformed", { detail: `the body: ${parsed.code}` });
  const token = Object.hasOwn(parsed.object, property) ? parsed.object[property] : undefined;
  if (typeof token === "string" && token !== "") return token;
  return missingCredential("token_missing", `\`${property}\`: missing from the body`);
}
