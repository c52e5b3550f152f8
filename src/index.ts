/** The library's public door: what handlers and configuration files import. */
export { ConfigError, type ConfigFile, defineConfig } from "./config/index.ts";
export {
  type CallbackEvent,
  type HandlerResponse,
  type JsonObject,
  type JsonValue,
  type Log,
  type RetryOptions,
  respond,
  type Version,
} from "./domain/index.ts";
export * from "./embed/index.ts";
export {
  type AccessToken,
  defineHandler,
  type HandleContext,
  type Handler,
  type HandlerDefinition,
  type PrepareContext,
  Rejected,
  typed,
  type UserTokens,
  UserTokensMissing,
} from "./handlers/index.ts";
export { verifySignIn } from "./oauth/index.ts";
export type { BodyReader, Exchange, ResponseHeaders } from "./receive/index.ts";
export { signHmac } from "./sources/index.ts";
export {
  type Migration,
  type PostgresConnection,
  type PostgresTransaction,
  type SqliteTransaction,
  sql,
  type Transaction,
} from "./store/index.ts";
