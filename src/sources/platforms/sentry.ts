import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * Sentry's integrations: the key is the client secret. Each attempt renews `Request-ID`. Source: Sentry, "Webhooks",
 * and its changelog of 2023-10-03 (1 s); getsentry/sentry `sentry_apps/tasks/sentry_apps.py`.
 */
export const sentry = hmacPreset("sentry", {
  docs: "https://docs.sentry.io/organization/integrations/integration-platform/webhooks/",
  identity: {
    why: "errors and alerts hold their event's id; others are an event at each delivery, since `Request-ID` is the attempt's: an issue resolved twice has equal bytes, and to lose one is worse than to run a retry, which only published integrations get",
    source: "https://github.com/getsentry/sentry/blob/master/src/sentry/sentry_apps/tasks/sentry_apps.py",
  },
  deadlineSeconds: 1,
  disables: "1000 timeouts within 24 hours, of an integration that is not published",
  unsigned: "resource, id and time",
  signature: { header: "Sentry-Hook-Signature", encoding: "hex" },
  id: ["{body.data.error.event_id}.{sha256}", "{body.data.event.event_id}.{sha256}", "delivery"],
  type: ["{header.Sentry-Hook-Resource}.{body.action}", "header.Sentry-Hook-Resource"],
  eventTime: { at: "header.Sentry-Hook-Timestamp", unit: "seconds" },
  bytesScope: "header.Sentry-Hook-Resource",
  headers: ["Sentry-Hook-Timestamp"],
});
