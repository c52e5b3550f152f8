export { paymentNotify } from "./built-in/payment-notify.ts";
export { type ExchangeCode, type TokenAnswer, userAuthorized } from "./built-in/user-authorized.ts";
export { webhookMessage } from "./built-in/webhook-message.ts";
export { defineHandler } from "./define-handler.ts";
export type { AttemptKind, HandleContext, Handler, HandlerDefinition, PrepareContext } from "./handler.ts";
export { createRegistry, type Registry } from "./registry.ts";
export { isRejected, Rejected } from "./rejected.ts";
export { validateData } from "./validate-data.ts";
export { HandlerTimedOut, withTimeLimit } from "./with-time-limit.ts";
