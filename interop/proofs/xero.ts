import { xero } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";
import { signedByPreset } from "../signed-by-preset.ts";

export const xeroProof: PlatformProof = {
  preset: "xero",
  by: "the vector of calcinai/xero-php, a community library: no SDK of Xero verifies, and Xero publishes no vector",
  secrets: ["a webhooks key of an app", "the webhooks key before it", "a third webhooks key"],
  source: (secrets) => xero({ secret: secrets }),
  callback: (event) =>
    signedByPreset(xero({ secret: event.secret }), event, {
      body: JSON.stringify({
        events: [
          {
            resourceUrl: `https://api.xero.com/api.xro/2.0/Contacts/${event.id}`,
            resourceId: event.id,
            eventDateUtc: "2026-06-15T12:00:00.000",
            eventType: "UPDATE",
            eventCategory: "CONTACT",
            tenantId: "c2cc9b6e-9458-4c7d-93cc-f02b81b0594f",
            tenantType: "ORGANISATION",
          },
        ],
        lastEventSequence: 1,
        firstEventSequence: 1,
        entropy: "S0m3r4Nd0mt3xt",
      }),
    }),
  vector: () => ({
    // tests/WebhookTest.php, testValidPayload: an "intent to receive".
    secret: "test_key",
    now: new Date(),
    request: {
      headers: { "x-xero-signature": "ixznmr+Pdl6QymsWZM+9UkY4lu97q04sJyejmSOp25U=" },
      body: Buffer.from(
        '{"events":[],"firstEventSequence": 0,"lastEventSequence": 0, "entropy": "NLDZEGWUXNHESAQVGLYF"}',
      ),
    },
  }),
  toleranceSeconds: null,
};
