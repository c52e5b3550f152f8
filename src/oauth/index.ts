export { cookieOf } from "./cookie.ts";
export { createExchange } from "./exchange-code.ts";
export { createPlatform, type Platform, type PlatformSettings } from "./platform.ts";
export { type Redirect, receiveRedirect } from "./redirect.ts";
export type { RedirectDeps } from "./redirect-deps.ts";
export {
  SANDBOX_AUTHORIZE_PATH,
  SANDBOX_TOKEN_PATH,
  sandboxAuthorize,
  sandboxSettings,
  sandboxToken,
} from "./sandbox-platform.ts";
export {
  createSignIn,
  NoFlow,
  type Person,
  SIGN_IN_SECONDS,
  type SignedIn,
  type SignIn,
  SignInRefused,
} from "./sign-in.ts";
export { type StartDeps, startFlow } from "./start-flow.ts";
export { createUserTokens, type KeptTokens } from "./user-tokens.ts";
