import { tokenPreset } from "../presets/token-preset.ts";

/**
 * RingCentral, with the text that you choose for the subscription (`verificationToken`). Without one nothing
 * authenticates a notification, and all are refused. A new or renewed subscription sends `Validation-Token`, and wants
 * that header back. The type is the event filter, such as `/restapi/v1.0/account/~/telephony/sessions`. Source:
 * RingCentral, "Creating webhooks" and "Troubleshooting webhooks".
 */
export const ringcentral = tokenPreset("ringcentral", {
  title: "RingCentral",
  docs: "https://developers.ringcentral.com/guide/notifications/webhooks/creating-webhooks",
  disables: "an address that keeps failing is blacklisted",
  header: "Verification-Token",
  id: "body.uuid",
  type: "body.event",
  eventTime: { at: "body.timestamp", unit: "iso" },
  handshakes: [
    { isSigned: false, when: { "header.Validation-Token": true }, reply: { kind: "header", name: "Validation-Token" } },
  ],
});
