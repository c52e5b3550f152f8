export type { Contract, EventContent, PlatformResponse, ReadCallback } from "./contract/contract.ts";
export { idFault } from "./contract/event-id.ts";
export { IDENTITY_TEXTS } from "./contract/identity.ts";
export { createPlatformContract, type PlatformRules } from "./contract/platform-contract.ts";
export { fixedResponse } from "./contract/responses.ts";
export { builtInProtocol } from "./diagnose/built-in.ts";
export type { NamedSecret } from "./diagnose/candidates.ts";
export { createDiagnosis, type DiagnoseSource, isDiagnosable } from "./diagnose/diagnose.ts";
export { parseEvent, parseObject, sha256Hex } from "./formats/parse-body.ts";
export { OptionError } from "./option-error.ts";
export {
  functionOf,
  LEARNING_PRESETS,
  moreThanSecret,
  PRESET_NAMES,
  type PresetName,
} from "./platforms/names.ts";
export { ApiError } from "./reconcile/api-client.ts";
export type {
  ListedEvent,
  MissedCallback,
  ReconcileWindow,
  Reconciliation,
} from "./reconcile/reconciliation.ts";
export type { DistinctHeaders, HeldBody, PathParameters, SignedRequest, SignedText } from "./request.ts";
export { createHmacScheme, signHmac } from "./schemes/hmac.ts";
export { platformHmac } from "./schemes/hmac-data.ts";
export { jwksKeys } from "./schemes/jwks-keys.ts";
export { createJwtScheme } from "./schemes/jwt.ts";
export { fixedKeys, type JwtAlgorithm, type JwtKeys, pemKeys, secretKeys } from "./schemes/jwt-keys.ts";
export {
  allOf,
  anyOf,
  type Credential,
  isCredentialMissing,
  missingCredential,
  type Scheme,
  type VerificationResult,
  type Verified,
} from "./schemes/scheme.ts";
export { WHSEC } from "./schemes/secret-keys.ts";
export type { SecretClaim } from "./schemes/secret-owners.ts";
export { isTenantUnknown } from "./schemes/tenant-scheme.ts";
export { createTokenScheme } from "./schemes/token.ts";
export { isPlaceholder, issuedWeakness, weaknessOf } from "./schemes/weak-secret.ts";
export { SampleError, type SignedSampleRequest, signedAs, signSample } from "./sign-sample.ts";
export type { SourceDefinition, SourceEnvironment } from "./source-definition.ts";
