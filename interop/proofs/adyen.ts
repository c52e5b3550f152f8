import { createRequire } from "node:module";
import { adyen, adyenPlatform } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";

interface HmacValidator {
  calculateHmac(data: object | string, key: string): string;
}
interface Library {
  readonly hmacValidator: new () => HmacValidator;
}

const { hmacValidator } = createRequire(import.meta.url)("@adyen/api-library") as Library;
const sdk = new hmacValidator();

const secrets = [
  "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056",
  "A".repeat(64),
  "0123456789abcdef".repeat(4),
] as const;

const ITEM = {
  additionalData: {},
  amount: { currency: "EUR", value: 1130 },
  eventCode: "AUTHORISATION",
  eventDate: "2026-06-15T13:59:50+02:00",
  merchantAccountCode: "TestMerchant",
  merchantReference: "TestPayment-1407325143704",
  originalReference: "",
  pspReference: "7914073381342284",
  reason: "",
  success: "true",
};

const wrapped = (item: object, hmacSignature: string) => ({
  live: "false",
  notificationItems: [{ NotificationRequestItem: { ...item, additionalData: { hmacSignature } } }],
});
const request = (body: object, headers: Record<string, string> = {}) => ({
  headers: { "content-type": "application/json", ...headers },
  body: Buffer.from(JSON.stringify(body)),
});

export const adyenProof: PlatformProof = {
  preset: "adyen",
  by: "@adyen/api-library, hmacValidator.calculateHmac; the example of docs.adyen.com",
  secrets,
  source: (given) => adyen({ secret: given }),
  callback({ secret, id }) {
    const item = { ...ITEM, pspReference: id };
    return request(wrapped(item, sdk.calculateHmac(item, secret)));
  },
  vector: () => ({
    secret: secrets[0],
    now: new Date(),
    request: request(wrapped(ITEM, "coqCmt/IZ4E3CzPvMY8zTjQVL5hYJUiBRg8UU+iCWo0=")),
  }),
  toleranceSeconds: null,
  signsBody: false,
};

export const adyenPlatformProof: PlatformProof = {
  preset: "adyen-platform",
  by: "@adyen/api-library, hmacValidator.calculateHmac",
  secrets,
  source: (given) => adyenPlatform({ secret: given }),
  callback({ secret, id, now }) {
    const type = "balancePlatform.accountHolder.updated";
    const body = {
      data: { balancePlatform: "B", accountHolder: { id } },
      environment: "test",
      timestamp: now,
      type,
    };
    const signature = sdk.calculateHmac(JSON.stringify(body), secret);
    return request(body, { hmacsignature: signature, protocol: "HmacSHA256" });
  },
  toleranceSeconds: null,
};
