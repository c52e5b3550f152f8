export { addressesOf } from "./addresses.ts";
export { CLOSED_FOR, guardConnections } from "./connection-guard.ts";
export { createConnectionLimit } from "./connection-limit.ts";
export { createDiagnosing } from "./diagnosing.ts";
export type { GateRules } from "./gate.ts";
export { createOrigin } from "./incoming.ts";
export type { Answered, HeardAccess, IsEndpointCheck, PublicDeps } from "./public-deps.ts";
export { createPublicListener, type Listener, type PublicOptions } from "./public-listener.ts";
export {
  type CountHit,
  createMemoryCounter,
  type Policy,
  rememberingExceeded,
  withFallback,
} from "./rate-limit.ts";
export { createAllowList, rateKey } from "./remote-address.ts";
export { readTlsPair, reloadOnChange, type TlsFiles, type TlsPair, TlsUnusable } from "./tls.ts";
