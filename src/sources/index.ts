export type {
  Contract,
  EventContent,
  HandshakeResponse,
  PlatformResponse,
  ReadCallback,
} from "./contract/contract.ts";
export {
  type ContractData,
  type ContractEnvironment,
  createEventContract,
} from "./contract/event-contract.ts";
export type { Handshake } from "./contract/handshakes.ts";
export { inexactNumbers, withShortNumbers } from "./contract/json-numbers.ts";
export type { TextPlace } from "./contract/locate.ts";
export { parseEvent, parseObject, sha256Hex } from "./contract/parse-body.ts";
export { createPlatformContract, type PlatformRules } from "./contract/platform-contract.ts";
export type { Responses } from "./contract/responses.ts";
export { diagnose, type Expected, isDiagnosable } from "./diagnose/diagnose.ts";
export type { NamedSecret } from "./diagnose/diagnose-signature.ts";
export { PRESET_NAMES, type PresetName } from "./presets/names.ts";
export { createHmacScheme, type HmacOptions, signHmac } from "./schemes/hmac.ts";
export {
  type HmacData,
  type KeyFormat,
  type MacAlgorithm,
  platformHmac,
  type SignatureEncoding,
  type SignatureFields,
  type SignaturePlace,
  type TimestampRule,
  type TimestampUnit,
} from "./schemes/hmac-data.ts";
export { createJwtScheme, type JwtOptions } from "./schemes/jwt.ts";
export {
  fixedKeys,
  type JwtAlgorithm,
  type JwtKeys,
  jwksKeys,
  pemKeys,
  secretKeys,
} from "./schemes/jwt-keys.ts";
export {
  allOf,
  anyOf,
  type Credential,
  type DistinctHeaders,
  type HeldBody,
  isCredentialMissing,
  type Scheme,
  type SignedRequest,
  type VerificationResult,
  type Verified,
} from "./schemes/scheme.ts";
export { signHmacRequest } from "./schemes/sign-hmac.ts";
export {
  createBasicScheme,
  createTokenScheme,
  type TokenOptions,
} from "./schemes/token.ts";
export type {
  PlatformFacts,
  SourceDefinition,
  SourceEnvironment,
  SourceSettings,
} from "./source-definition.ts";
