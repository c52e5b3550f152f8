export { type AllowedAddresses, createAllowedAddresses } from "./allowed-addresses.ts";
export { type Channel, DeliveryPostponed, DeliveryRefused } from "./channel.ts";
export { emailChannel } from "./channels/email.ts";
export { logChannel } from "./channels/log.ts";
export { webhookChannel } from "./channels/webhook.ts";
export { createOutboxLoop } from "./outbox-loop.ts";
