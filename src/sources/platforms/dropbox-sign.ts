import { secretPreset } from "../presets/secret-preset.ts";
import { type BodyHmac, bodyHmacScheme, signBodyHmac } from "../schemes/body-hmac.ts";

const RECEIVED = "Hello API Event Received";
const SCHEME: BodyHmac = {
  // A field of a form whose text is JSON; its documentation shows plain JSON too.
  body: {
    byContentType: {
      "multipart/form-data": { multipart: "json" },
      "application/x-www-form-urlencoded": { form: "json" },
      "*": "json",
    },
  },
  at: "event",
  signed: [
    { name: "event_time", shape: /^\d{10}$/, expected: "a text of ten digits, seconds since the epoch" },
    { name: "event_type", shape: /^[a-z_]{1,64}$/, expected: "lowercase letters and underscores" },
  ],
  signatures: ["event_hash"],
};

/** All that the hash is made of: with the hash itself in logs, a reader could make an authentic callback. */
const EVENT = "{body.event.event_time}.{body.event.event_type}";

/**
 * Dropbox Sign (HelloSign): `event_hash` in the body, an HMAC-SHA256 over `event_time` and `event_type`. The key is the
 * primary API key. Note that **nothing else is signed**: a reader of one callback can send another request's id under
 * its hash. So fetch the signature request before you act on it. Events of one type within a second have one hash: the
 * request and the signature are parts of the id. Success is the text `Hello API Event Received`, also for the test of
 * an address. It tries again for about three days. Source: Dropbox Sign, "Events walkthrough" and "Callbacks & Events".
 */
export const dropboxSign = secretPreset("dropbox-sign", {
  docs: "https://developers.hellosign.com/docs/events/walkthrough/",
  retryHours: 72,
  unsigned: "all but the event's time and type",
  signs: "HMAC-SHA256 over `event_time` and `event_type`, in the body",
  body: SCHEME.body,
  id: [
    `${EVENT}.{body.signature_request.signature_request_id}.{body.event.event_metadata.related_signature_id}`,
    `${EVENT}.{body.signature_request.signature_request_id}`,
    `${EVENT}.{body.template.template_id}`,
    `${EVENT}.{body.event.event_metadata.reported_for_account_id}`,
    EVENT,
  ],
  type: "body.event.event_type",
  eventTime: { at: "body.event.event_time", unit: "seconds" },
  handshakes: [
    { isSigned: true, when: { "body.event.event_type": "callback_test" }, reply: { kind: "text", at: `=${RECEIVED}` } },
  ],
  responses: { received: { body: RECEIVED } },
  credential: { fields: ["event_hash"] },
  signBody: (body, secret) => signBodyHmac(SCHEME, body, secret),
  scheme: bodyHmacScheme(SCHEME),
});
