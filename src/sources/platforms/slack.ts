import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * Slack: the Events API, interactivity and slash commands at one address; their bodies distinguish them. An
 * interaction's payload is a JSON text in a form. A slash command is a form, and its type is the command, such as
 * `/deploy`. Source: @slack/bolt `receivers/verify-request.ts`, which bounds only the age; Slack, "Verifying requests
 * from Slack".
 */
export const slack = hmacPreset("slack", {
  docs: "https://docs.slack.dev/authentication/verifying-requests-from-slack",
  proof: "verifies",
  deadlineSeconds: 3,
  // At once, after one minute and after five.
  retryHours: 0.1,
  disables: "less than 5 % of deliveries answered 200 within 60 minutes",
  signature: { header: "X-Slack-Signature", encoding: "hex", prefix: "v0=" },
  signed: "v0:{timestamp}:{body}",
  timestamp: { header: "X-Slack-Request-Timestamp", unit: "seconds", toleranceSeconds: 300, direction: "past" },
  body: "json-or-form",
  decode: [{ at: "body.payload", as: "json" }],
  id: ["body.event_id", "body.payload.trigger_id", "body.trigger_id", "sha256"],
  type: ["body.event.type", "body.payload.type", "body.command", "body.type"],
  eventTime: { at: "body.event_time", unit: "seconds" },
  data: ["body.payload", "body"],
  headers: ["X-Slack-Retry-Num", "X-Slack-Retry-Reason"],
  handshakes: [
    {
      isSigned: true,
      when: { "body.type": "url_verification", "body.challenge": true },
      reply: { kind: "json", fields: { challenge: "body.challenge" } },
    },
    { isSigned: true, when: { "body.ssl_check": "1" }, reply: { kind: "status", status: 200 } },
  ],
  // Slack shows a body as a message, or takes it for an answer to a dialog.
  responses: { received: { body: "" } },
});
