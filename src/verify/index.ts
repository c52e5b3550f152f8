export { createBearerCheck } from "./bearer.ts";
export { allOf, anyOf } from "./combine.ts";
export { diagnose, type Expected, isDiagnosable } from "./diagnose/diagnose.ts";
export type { KnownSecrets, NamedSecret, Suspect } from "./diagnose/suspect.ts";
export { createHmacScheme, type HmacOptions, signHmac } from "./hmac.ts";
export { jwksKeys } from "./jwks-keys.ts";
export { createJwtScheme, type JwtOptions } from "./jwt.ts";
export { fixedKeys, type JwtAlgorithm, type JwtKeys, secretKeys } from "./jwt-keys.ts";
export { pemKeys } from "./pem-keys.ts";
export {
  type Credential,
  type DistinctHeaders,
  isAbsent,
  type Scheme,
  type SignedRequest,
  type Verdict,
  type Verified,
} from "./scheme.ts";
export { createTokenScheme, type TokenOptions } from "./token.ts";
