export { paymentNotify } from "./built-in/payment-notify.ts";
export { sealedTokensContext, sealTokens, type TokenAnswer } from "./built-in/token-lifetime.ts";
export {
  type CodeGrant,
  type ExchangeCode,
  storableId,
  userAuthorized,
  userOf,
} from "./built-in/user-authorized.ts";
export { webhookMessage } from "./built-in/webhook-message.ts";
export { defineHandler } from "./define-handler.ts";
export {
  type AccessToken,
  type AttemptKind,
  type HandleContext,
  type Handler,
  type HandlerDefinition,
  type PrepareContext,
  type UserTokens,
  UserTokensMissing,
} from "./handler.ts";
export { createRegistry, type Registry } from "./registry.ts";
export { isRejected, Rejected } from "./rejected.ts";
export { validateData } from "./validate-data.ts";
export { HandlerTimedOut, type TimeLimit, withTimeLimit } from "./with-time-limit.ts";
