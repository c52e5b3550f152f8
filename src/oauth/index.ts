export { createCodeExchange } from "./authorization-code.ts";
export { browserPage, PAGE_HEADERS } from "./browser-page.ts";
export {
  cookieOf,
  FLOW_SECONDS,
  type FlowDependencies,
  MAX_CONTEXT_BYTES,
  randomSecret,
  startFlow,
} from "./flow.ts";
export { createPlatform, type Platform, type PlatformSettings } from "./platform.ts";
export { processRedirect, type Redirect } from "./redirect.ts";
export * from "./sandbox-platform.ts";
export * from "./sign-in.ts";
export { verifySignIn } from "./signed-result.ts";
export { createUserTokens, type RenewableTokens } from "./user-tokens.ts";
