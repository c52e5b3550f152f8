export { createExchange, type TokenEndpoint } from "./exchange-code.ts";
export { type Redirect, type RedirectDeps, receiveRedirect } from "./redirect.ts";
export { SANDBOX_TOKEN_PATH, sandboxEndpoint, sandboxToken } from "./sandbox-platform.ts";
