export { type AllowedAddresses, createAllowedAddresses } from "./allowed-addresses.ts";
export { type Channel, DeliveryPostponedError, PermanentDeliveryError } from "./channel.ts";
export { type AlertChannelOptions, alertChannel, CHAT_MESSAGES } from "./channels/alert-channel.ts";
export { emailChannel, emailDestinations } from "./channels/email.ts";
export { LOG_DESTINATION, logChannel } from "./channels/log.ts";
export { PAGERDUTY_DESTINATION, pagerDutyChannel } from "./channels/pagerduty.ts";
export { WEBHOOK_DESTINATION, webhookChannel } from "./channels/webhook.ts";
export { createOutboxPoller } from "./outbox-poller.ts";
