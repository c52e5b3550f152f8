export { allOf, anyOf } from "./combine.ts";
export { createHmacScheme, type HmacOptions, signHmac } from "./hmac.ts";
export { createJwtScheme, type JwtAlgorithm, type JwtOptions } from "./jwt.ts";
export { type JwtKeys, jwksKeys, pemKeys, secretKeys } from "./jwt-keys.ts";
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
