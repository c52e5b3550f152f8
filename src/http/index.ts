export { guardConnections } from "./connection-guard.ts";
export { createConnectionLimit } from "./connection-limit.ts";
export { createPublicListener, type Listener } from "./public-listener.ts";
export { readTlsPair, reloadOnChange, type TlsPair, TlsUnusable } from "./tls.ts";
