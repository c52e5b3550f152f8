export { type AllowedAddresses, createAllowedAddresses } from "./allowed-addresses.ts";
export { type Channel, DeliveryPostponed, DeliveryRefused } from "./channel.ts";
export { emailChannel, emailDestinations } from "./channels/email.ts";
export { LOG, logChannel } from "./channels/log.ts";
export { WEBHOOK, webhookChannel } from "./channels/webhook.ts";
export { createOutboxLoop } from "./outbox-loop.ts";
