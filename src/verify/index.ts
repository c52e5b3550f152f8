export { createHmacScheme, type HmacOptions, signHmac } from "./hmac.ts";
export type { DistinctHeaders, Scheme, SignedRequest, Verified } from "./scheme.ts";
