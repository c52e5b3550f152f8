import { type Refused, refused } from "../domain/index.ts";
import { absent, type SignedRequest } from "./scheme.ts";

/** RFC 6750 §2.1: the scheme's name in any case, one space, the token. */
const BEARER = /^bearer ([^\s]+)$/i;

/** The name of the header that carries a credential, and what a 401 says of it. */
export interface CredentialHeader {
  readonly challenge: string;
  /** The one token in it; refused when it is missing or stands more than once. */
  read(request: SignedRequest): string | Refused;
}

/** `Authorization` holds `Bearer <token>`; any other header holds the token itself. */
export function credentialHeader(name: string): CredentialHeader {
  const key = name.toLowerCase();
  const isBearer = key === "authorization";
  return {
    challenge: isBearer ? 'Bearer realm="callbacks"' : `Token realm="callbacks", header="${name}"`,
    read({ headers }) {
      const values = headers[key] ?? [];
      const [value = ""] = values;
      if (values.length > 1) return refused("token_repeated");
      const token = isBearer ? (BEARER.exec(value)?.[1] ?? "") : value;
      return token === "" ? absent("token_missing") : token;
    },
  };
}
