export { paymentNotify } from "./built-in/payment-notify.ts";
export { storeEvent, storesEvents } from "./built-in/store-event.ts";
export * from "./built-in/user-authorized.ts";
export { webhookMessage } from "./built-in/webhook-message.ts";
export * from "./define-handler.ts";
export * from "./handler.ts";
export * from "./registry.ts";
export { typed } from "./typed.ts";
export * from "./with-time-limit.ts";
