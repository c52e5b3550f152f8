import { createRequire } from "node:module";
import { twilio, twilioEvents } from "../../src/sources/platforms/index.ts";
import type { PlatformProof, ProofEvent, ProofRequest } from "../platform-proof.ts";

interface Webhooks {
  getExpectedTwilioSignature(authToken: string, url: string, params: object | null): string;
  getExpectedBodyHash(body: string): string;
}

const sdk = createRequire(import.meta.url)("twilio/lib/webhooks/webhooks") as Webhooks;

/** A body of any bytes, whose hash stands in the address. */
const signed = (body: Uint8Array, { secret, url }: ProofEvent): ProofRequest => {
  const hash = Buffer.from(body).equals(Buffer.of(0xff))
    ? SHA256_OF_FF
    : sdk.getExpectedBodyHash(Buffer.from(body).toString());
  const query = `?bodySHA256=${hash}`;
  const signature = sdk.getExpectedTwilioSignature(secret, url + query, null);
  return { query, headers: { "x-twilio-signature": signature, "content-type": "application/json" }, body };
};

/** The SDK hashes texts alone. */
const SHA256_OF_FF = "a8100ae6aa1940d0b663bb31cd466142ebbdbd5187131b92d93818987832eb89";

export const twilioProof: PlatformProof = {
  preset: "twilio",
  by: "twilio, getExpectedTwilioSignature",
  secrets: ["12345678901234567890123456789012", "abcdefabcdefabcdefabcdefabcdefab", "0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f"],
  source: (secret) => twilio({ secret }),
  signed,
  callback({ secret, id, url }) {
    const params = {
      To: "+15552345678",
      MessageSid: id,
      MessageStatus: "sent",
      AccountSid: "AC1",
      Body: "a&b=ü é",
    };
    return {
      headers: {
        "x-twilio-signature": sdk.getExpectedTwilioSignature(secret, url, params),
        "content-type": "application/x-www-form-urlencoded; charset=UTF-8",
      },
      body: Buffer.from(new URLSearchParams(params).toString()),
    };
  },
  // twilio-node spec/validation.spec.js.
  vector: () => ({
    secret: "12345",
    now: new Date(),
    url: "https://mycompany.com/myapp.php",
    request: {
      query: "?foo=1&bar=2",
      headers: {
        "x-twilio-signature": "RSOYDt4T1cUTdK1PDd93/VVr8B8=",
        "content-type": "application/x-www-form-urlencoded",
      },
      body: Buffer.from(
        "CallSid=CA1234567890ABCDE&Caller=%2B14158675309&Digits=1234&From=%2B14158675309&To=%2B18005551212",
      ),
    },
  }),
  toleranceSeconds: null,
};

export const twilioEventsProof: PlatformProof = {
  preset: "twilio-events",
  by: "twilio, getExpectedTwilioSignature and getExpectedBodyHash",
  secrets: twilioProof.secrets,
  source: (secret) => twilioEvents({ secret }),
  signed,
  callback(event) {
    const time = event.now.toISOString();
    const cloudEvent = { specversion: "1.0", type: "com.twilio.messaging.message.sent", id: event.id, time };
    return signed(Buffer.from(JSON.stringify([{ ...cloudEvent, data: { messageSid: "SM1" } }])), event);
  },
  toleranceSeconds: null,
};
