import type { Outcome } from "../../../domain/index.ts";
import type { PlatformResponse } from "../../contract/contract.ts";
import { fixedResponse } from "../../contract/responses.ts";
import type { OwnSample } from "../../contract/sample-draft.ts";
import { secretPreset } from "../../presets/secret-preset.ts";
import { createTwilioScheme, signTwilio } from "./twilio-scheme.ts";

/** The fields in which Twilio tells what happened, by the first part of a type. */
const STATUS_FIELDS = new Map([
  ["recording", "RecordingStatus"],
  ["message", "MessageStatus"],
  ["call", "CallStatus"],
]);

const sample: OwnSample = (type, id) => {
  const [kind = "", ...status] = type.split(".");
  const field = STATUS_FIELDS.get(kind);
  return {
    headers: { "Content-Type": "application/x-www-form-urlencoded", "I-Twilio-Idempotency-Token": id },
    body: {
      [kind === "message" ? "MessageSid" : "CallSid"]: id,
      AccountSid: "AC00000000000000000000000000000000",
      ApiVersion: "2010-04-01",
      From: "+15005550006",
      To: "+15005550001",
      ...(field === undefined ? { EventType: type } : { [field]: status.join(".") }),
    },
  };
};

/**
 * Twilio: `X-Twilio-Signature`, HMAC-SHA1 over the registered address and the sorted fields of the form. For a JSON
 * body it is over the address with the body's hash. By GET the fields stand in the address. Source: twilio-node
 * `src/webhooks/webhooks.ts`; twilio.com/docs/usage/webhooks/webhooks-security. The secret is the account's auth token.
 *
 * Nothing that is signed names a callback: a call that gathers digits sends one `CallSid` and `CallStatus` several
 * times. So the id is `I-Twilio-Idempotency-Token`, which is not signed and stays over retries, or the hash of what was
 * signed. By that hash, two callbacks with the same address and fields are one event.
 *
 * The response is TwiML: an empty `<Response/>`, or the text of the handler's result as `twiml`.
 * Event Streams are `twilio-events`.
 */
export const twilio = secretPreset("twilio", {
  docs: "https://www.twilio.com/docs/usage/webhooks/webhooks-security",
  proof: "signs",
  identity: { why: "`I-Twilio-Idempotency-Token` stays over retries; without it what was signed is the key" },
  deadlineSeconds: 15,
  signs: "HMAC-SHA1 over the address and the sorted fields of the body",
  body: "json-or-form",
  emptyBody: "query",
  methods: ["GET"],
  id: ["header.I-Twilio-Idempotency-Token", "sha256"],
  type: [
    "body.EventType",
    "body.type",
    "recording.{body.RecordingStatus}",
    "message.{body.MessageStatus}",
    "message.{body.SmsStatus}",
    "call.{body.CallStatus}",
    "=callback",
  ],
  isIdSigned: false,
  responses: { received: respond },
  sample,
  sign: signTwilio,
  signsPath: true,
  signsAddress: true,
  credential: { headers: ["X-Twilio-Signature"] },
  scheme: (authTokens, { origin }) => createTwilioScheme({ authTokens, origin }),
});

function respond(outcome: Outcome): PlatformResponse {
  const twiml = "result" in outcome ? outcome.result?.twiml : undefined;
  const body = typeof twiml === "string" ? twiml : '<?xml version="1.0" encoding="UTF-8"?><Response/>';
  return fixedResponse({ body, type: "text/xml; charset=utf-8" });
}
