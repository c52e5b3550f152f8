import { hmacPreset } from "./preset.ts";

/**
 * Sentry's integrations: `Sentry-Hook-Signature`, HMAC-SHA256 over the body; the key is the client secret. Neither the
 * request's id nor the resource is signed. The id is made for each attempt, and an issue that is resolved twice may have
 * equal bytes: each delivery is an event, so that none is lost.
 * Source: Sentry, "Integration platform, webhooks".
 */
export const sentry = hmacPreset({
  preset: "sentry",
  facts: {
    title: "Sentry",
    docs: "https://docs.sentry.io/organization/integrations/integration-platform/webhooks/",
    proof: "documented",
    identity: {
      why: "`Request-ID` is of the attempt, and an issue resolved twice may have equal bytes",
      source:
        "https://github.com/getsentry/sentry/blob/master/src/sentry/sentry_apps/api/serializers/app_platform_event.py",
    },
    unsigned: "resource, id and time",
  },
  scheme: { signature: { header: "Sentry-Hook-Signature", encoding: "hex" }, signed: "{body}" },
  contract: {
    id: "header.Request-ID",
    identity: "delivery",
    type: ["{header.Sentry-Hook-Resource}.{body.action}", "header.Sentry-Hook-Resource"],
    eventTime: { at: "header.Sentry-Hook-Timestamp", unit: "seconds" },
    bytesScope: "header.Sentry-Hook-Resource",
    headers: ["Sentry-Hook-Timestamp"],
  },
});
