export { paymentNotify } from "./built-in/payment-notify.ts";
export {
  type CodeGrant,
  type ExchangeCode,
  encryptTokens,
  storableId,
  type TokenResponse,
  userAuthorized,
  userIdOf,
  userTokensContext,
} from "./built-in/user-authorized.ts";
export { webhookMessage } from "./built-in/webhook-message.ts";
export { defineHandler } from "./define-handler.ts";
export {
  type AccessToken,
  type AttemptKind,
  type HandleContext,
  type Handler,
  type HandlerDefinition,
  isRejected,
  type PrepareContext,
  Rejected,
  type UserTokens,
  UserTokensMissing,
} from "./handler.ts";
export { createRegistry, type Registry, validateData } from "./registry.ts";
export {
  HandlerTimedOut,
  SharedTimeLimit,
  type TimeLimit,
  withSignal,
  withTimeLimit,
} from "./with-time-limit.ts";
