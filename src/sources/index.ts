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
export { type EventIdentity, IDENTITY_TEXTS, type Identity } from "./contract/identity.ts";
export { inexactNumbers, withShortNumbers } from "./contract/json-numbers.ts";
export type { TextPlace } from "./contract/locate.ts";
export { parseEvent, parseObject, sha256Hex } from "./contract/parse-body.ts";
export { createPlatformContract, type PlatformRules } from "./contract/platform-contract.ts";
export { fixedResponse, type Responses } from "./contract/responses.ts";
export { diagnose, type Expected, isDiagnosable } from "./diagnose/diagnose.ts";
export type { NamedSecret } from "./diagnose/diagnose-signature.ts";
export { createSourceDiagnosis, type DiagnoseSource } from "./diagnose/diagnose-source.ts";
export {
  functionOf,
  LEARNING_PRESETS,
  moreThanSecret,
  PRESET_NAMES,
  type PresetName,
} from "./presets/names.ts";
export { ApiError } from "./reconcile/api-client.ts";
export type {
  ListedEvent,
  MissedCallback,
  ReconcileWindow,
  Reconciliation,
} from "./reconcile/reconciliation.ts";
export { createSnsScheme, type SnsOptions } from "./schemes/aws-sns.ts";
export {
  type CertificateKeys,
  type CertificateOptions,
  certificateKeys,
} from "./schemes/certificate-keys.ts";
export { FetchedKeys, type FetchedOptions } from "./schemes/fetched-keys.ts";
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
export {
  createMessageSignatureScheme,
  type MessageSignatureAlgorithm,
  type MessageSignatureKey,
  type MessageSignatureOptions,
} from "./schemes/http-message-signatures.ts";
export { jwksKeys, keysById } from "./schemes/jwks-keys.ts";
export { createJwtScheme, type JwtOptions } from "./schemes/jwt.ts";
export {
  fixedKeys,
  type JwtAlgorithm,
  type JwtKeys,
  pemKeys,
  secretKeys,
  x5cKeys,
} from "./schemes/jwt-keys.ts";
export { type AddressPin, isPinned, type KeyRequest, requestKeys } from "./schemes/key-request.ts";
export type { SecretLookup } from "./schemes/learnt-secrets.ts";
export { createPayPalScheme, type PayPalOptions } from "./schemes/paypal.ts";
export { createPublicKeyScheme, type PublicKeyData, type PublicKeyOptions } from "./schemes/public-key.ts";
export type { SignatureAlgorithm } from "./schemes/public-keys.ts";
export {
  allOf,
  anyOf,
  type Credential,
  type DistinctHeaders,
  type HeldBody,
  isCredentialMissing,
  missingCredential,
  type PathParameters,
  type Scheme,
  type SignedRequest,
  type SignedText,
  type VerificationResult,
  type Verified,
} from "./schemes/scheme.ts";
export { WHSEC } from "./schemes/secret-keys.ts";
export type { ClaimSecret, SecretClaim } from "./schemes/secret-owners.ts";
export { signHmacRequest } from "./schemes/sign-hmac.ts";
export { isTenantUnknown } from "./schemes/tenant-scheme.ts";
export {
  createBasicScheme,
  createTokenScheme,
  type TokenOptions,
} from "./schemes/token.ts";
export { type TokenPlace, tokenInBody } from "./schemes/token-place.ts";
export { isPlaceholder, issuedWeakness, weaknessOf } from "./schemes/weak-secret.ts";
export { type ChainTrust, readCertificates, verifyChain } from "./schemes/x5c-chain.ts";
export {
  SampleError,
  type SampleSignature,
  type SignedSample,
  type SignedSampleRequest,
  signedAs,
  signSample,
} from "./sign-sample.ts";
export type {
  PlatformFacts,
  SourceDefinition,
  SourceEnvironment,
  SourceSettings,
} from "./source-definition.ts";
