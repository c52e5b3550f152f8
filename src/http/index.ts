export { addressesOf } from "./addresses.ts";
export type { GateRules } from "./gate.ts";
export type { Answered, PublicDeps } from "./public-deps.ts";
export { createPublicListener, type Listener, type PublicOptions } from "./public-listener.ts";
export {
  type CountHit,
  createMemoryCounter,
  type Policy,
  rememberingExceeded,
  withFallback,
} from "./rate-limit.ts";
export { createAllowList } from "./remote-address.ts";
export { readTlsPair, reloadOnChange, type TlsFiles, type TlsPair, TlsUnusable } from "./tls.ts";
