import { hmacPreset } from "../presets/hmac-preset.ts";

/** Connect has up to 100 keys, and sends a header for each. A request may hold 16 signatures. */
const HEADERS = Array.from({ length: 16 }, (_, index) => `X-DocuSign-Signature-${index + 1}`);

/**
 * DocuSign Connect with HMAC and JSON: a signature for each active key of the account. One that fits is enough. The
 * body counts its retries, so that envelope, recipient, event and time name an event. XML is not read. Source:
 * DocuSign, "How to validate an HMAC signature" and "Using HMAC security with DocuSign Connect".
 */
export const docusign = hmacPreset("docusign", {
  title: "DocuSign Connect",
  docs: "https://developers.docusign.com/platform/webhooks/connect/validate/",
  retryHours: 360,
  // An envelope's documents in base64, where a configuration includes them; 25 MB are recommended at most.
  maxBodyBytes: 50_000_000,
  signature: { header: HEADERS, encoding: "base64" },
  id: [
    "{body.data.envelopeId}.{body.data.recipientId}.{body.event}.{body.generatedDateTime}",
    "{body.data.envelopeId}.{body.event}.{body.generatedDateTime}",
    "sha256",
  ],
  type: "body.event",
  eventTime: { at: "body.generatedDateTime", unit: "iso" },
});
