import { hmacPreset } from "./preset.ts";

/**
 * Sentry's integrations: `Sentry-Hook-Signature`, HMAC-SHA256 over the body; the key is the client secret. Neither the
 * request's id nor the resource is signed, so the signed bytes are a second key within a resource.
 * Source: Sentry, "Integration platform, webhooks".
 */
export const sentry = hmacPreset({
  preset: "sentry",
  facts: {
    title: "Sentry",
    docs: "https://docs.sentry.io/organization/integrations/integration-platform/webhooks/",
    proof: "documented",
    unsigned: "resource, id and time: one body runs once for each resource",
  },
  scheme: { signature: { header: "Sentry-Hook-Signature", encoding: "hex" }, signed: "{body}" },
  contract: {
    id: ["header.Request-ID", "sha256"],
    type: ["{header.Sentry-Hook-Resource}.{body.action}", "header.Sentry-Hook-Resource"],
    eventTime: { at: "header.Sentry-Hook-Timestamp", unit: "seconds" },
    bytesScope: "header.Sentry-Hook-Resource",
    headers: ["Sentry-Hook-Timestamp"],
  },
});
