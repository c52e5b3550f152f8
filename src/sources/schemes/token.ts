import { type Refused, refused } from "../../domain/index.ts";
import { optionError } from "../option-error.ts";
import type { SignedRequest } from "../request.ts";
import { tokenMatcher } from "../token-match.ts";
import { missingCredential, type Scheme } from "./scheme.ts";
import { assertSecret } from "./secret-keys.ts";
import type { TokenPlace } from "./token-place.ts";

export interface TokenOptions {
  /** The current token first, then those that are being rotated out. */
  readonly tokens: readonly string[];
  readonly header: string;
  /** The exact text before the token; with an empty one `Authorization` holds only the token. */
  readonly prefix?: string;
}

/**
 * SPEC 5.3: a fixed token in a header. It says who sent the request and nothing of what stands in it.
 * A token in a query parameter is not read: servers and proxies write addresses to their logs.
 * @throws TypeError for a token that is empty or has white space around it
 */
export function createTokenScheme({ tokens, header, prefix }: TokenOptions): Scheme {
  const texts = tokens.map((token) => assertSecret(token));
  return createCredentialScheme(texts, credentialHeader(header, prefix));
}

/**
 * Basic authentication, in UTF-8 (RFC 7617). A user has no colon, which ends it (§2).
 * @param credentials the current pair first @throws TypeError for a user or a password that cannot be sent, or none
 */
export function createBasicScheme(credentials: readonly Readonly<Record<"user" | "password", string>>[]): Scheme {
  const pairs = credentials.map(({ user, password }) => {
    if (user.includes(":")) throw optionError("user", "a text with a colon", "none");
    return `${user}:${assertSecret(password)}`;
  });
  return createCredentialScheme(pairs, BASIC_HEADER);
}

function createCredentialScheme(credentials: readonly string[], { challenge, read }: TokenPlace): Scheme {
  const indexOf = tokenMatcher(credentials);
  return {
    challenge,
    verify(request) {
      const token = read(request);
      if (typeof token !== "string") return token;
      const index = indexOf(token);
      return index === -1 ? refused("token_mismatch") : { verified: [{ method: "token", index }] };
    },
  };
}

/** RFC 6750 §2.1: the scheme's name in any case, one space, the token. */
const BEARER = /^bearer ([^\s]+)$/i;
/** RFC 7617 §2. */
const BASIC = /^basic ([A-Za-z0-9+/]+={0,2})$/i;

/** A header that carries a credential: `Authorization` holds `Bearer <token>`, any other one the token itself. */
export function credentialHeader(name: string, prefix?: string): TokenPlace {
  const key = name.toLowerCase();
  const isBearer = key === "authorization" && prefix === undefined;
  return {
    challenge: isBearer ? 'Bearer realm="callbacks"' : `Token realm="callbacks", header="${name}"`,
    read: createReader(key, isBearer ? (value) => BEARER.exec(value)?.[1] : (value) => after(prefix, value)),
  };
}

const BASIC_HEADER: TokenPlace = {
  challenge: 'Basic realm="callbacks", charset="UTF-8"',
  read: createReader("authorization", (value) => {
    const encoded = BASIC.exec(value)?.[1];
    if (encoded === undefined) return undefined;
    const bytes = Buffer.from(encoded, "base64");
    // Bytes that are no UTF-8 would become U+FFFD, as others do.
    const text = bytes.toString("utf8");
    return Buffer.from(text, "utf8").toString("base64") === encoded ? text : undefined;
  }),
};

function after(prefix = "", value: string): string | undefined {
  return value.startsWith(prefix) ? value.slice(prefix.length) : undefined;
}

function createReader(key: string, credentialIn: (value: string) => string | undefined) {
  return ({ headers }: SignedRequest): string | Refused => {
    const values = headers[key] ?? [];
    const [value = ""] = values;
    if (values.length > 1) return refused("token_repeated");
    return credentialIn(value) || missingCredential("token_missing");
  };
}
