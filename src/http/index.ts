export { guardConnections } from "./connection-guard.ts";
export { createConnectionLimit } from "./connection-limit.ts";
export { createDiagnoser } from "./diagnoser.ts";
export type * from "./public-dependencies.ts";
export { createPublicListener, type Listener, type PublicListenerOptions } from "./public-listener.ts";
export {
  type CountHit,
  cacheExceeded,
  createMemoryCounter,
  type Policy,
  withFallback,
} from "./rate-limit.ts";
export { createAllowList, rateKey } from "./remote-address.ts";
export { createReadOrigin } from "./request-context.ts";
export type { SourceBounds } from "./routes.ts";
export { readTlsPair, reloadOnChange, type TlsFiles, type TlsPair, TlsUnusable } from "./tls.ts";
