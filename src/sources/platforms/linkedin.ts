import { hmacPreset } from "../presets/hmac-preset.ts";
import type { FixedSecretOptions } from "../presets/secrets.ts";

/**
 * LinkedIn: the key is the app's client secret. A new address is asked by GET for a proof of that secret, and again
 * every two hours. A lead has no id: URN, action and time name it. Up to ten social actions stand in `notifications`.
 * The callback is one event, with the body's hash as its id: two with equal bytes count as one. LinkedIn asks for
 * de-duplication by `notificationId`, should another callback repeat one of them: do that in the handler. Source:
 * LinkedIn, "Webhooks" (webhook-validation), "Organization Social Action Notifications", "Lead Sync".
 */
export const linkedin = hmacPreset<FixedSecretOptions>("linkedin", {
  title: "LinkedIn",
  docs: "https://learn.microsoft.com/linkedin/shared/api-guide/webhook-validation",
  deadlineSeconds: 3,
  retryHours: 8,
  disables: "three failed checks of the address in a row",
  signature: { header: "X-LI-Signature", encoding: "hex" },
  signed: "hmacsha256={body}",
  id: ["{body.leadGenFormResponse}.{body.leadAction}.{body.occurredAt}", "sha256"],
  type: "body.type",
  eventTime: { at: "body.occurredAt", unit: "milliseconds" },
  handshakes: [
    {
      isSigned: false,
      method: "GET",
      when: { "query.challengeCode": true },
      reply: {
        kind: "json",
        fields: {
          challengeCode: "query.challengeCode",
          challengeResponse: { hmac: "query.challengeCode", encoding: "hex" },
        },
      },
    },
  ],
});
