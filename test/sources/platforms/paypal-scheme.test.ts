import { sign } from "node:crypto";
import { crc32 } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import type { Verified } from "../../../src/sources/index.ts";
import { createPayPalScheme, type PayPalOptions } from "../../../src/sources/platforms/paypal/paypal-scheme.ts";
import { type Issued, issueCertificate } from "../../support/certificate-chain.ts";
import { withHttpsServer } from "../../support/http-server.ts";
import { POSTED } from "../../support/posted.ts";

const NOW = new Date("2026-03-04T12:00:00Z");
const BODY = Buffer.from([0x7b, 0xff, 0x7d]);
const ID = "69cd13f0-d67a-11e5-baa3-778b53f4ae55";
const TIME = "2026-03-04T11:59:00Z";
const SUBJECT = "messageverificationcerts.paypal.com";
const [CURRENT, PREVIOUS] = ["5GP028458E2496506", "1JE4291016473214C"] as const;

describe("a callback of PayPal", () => {
  let signer: Issued;

  beforeAll(async () => {
    signer = await issueCertificate({ subject: SUBJECT, dnsNames: [SUBJECT] });
  });

  type Headers = Record<string, string[]>;
  interface PayPal {
    readonly state: { isDown: boolean; asked: number };
    headers(webhookId?: string, over?: Headers): Headers;
    verify(headers: Headers, body?: Uint8Array, over?: Partial<PayPalOptions>): Promise<unknown>;
  }

  function withPayPal(use: (payPal: PayPal) => Promise<void>): Promise<void> {
    const state = { isDown: false, asked: 0 };
    return withHttpsServer(
      (_request, response) => {
        state.asked += 1;
        response.writeHead(state.isDown ? 503 : 200).end(signer.pem);
      },
      (origin) => {
        const pin = { host: /^127\.0\.0\.1:\d+$/, path: /^\/v1\/notifications\/certs\/[A-Z0-9-]+$/ };
        const verify: PayPal["verify"] = async (headers, body = BODY, over = {}) =>
          createPayPalScheme({
            ...{ webhookIds: [CURRENT, PREVIOUS], clock: { now: () => NOW }, certificates: { pin }, ...over },
          }).verify({ ...POSTED, headers, body });
        const headers: PayPal["headers"] = (webhookId = CURRENT, over = {}) => ({
          "paypal-transmission-id": [ID],
          "paypal-transmission-time": [TIME],
          "paypal-transmission-sig": [
            sign("sha256", Buffer.from(`${ID}|${TIME}|${webhookId}|${crc32(BODY)}`), signer.privateKey).toString(
              "base64",
            ),
          ],
          "paypal-cert-url": [`${origin}/v1/notifications/certs/CERT-1`],
          "paypal-auth-algo": ["SHA256withRSA"],
          ...over,
        });
        return use({ state, headers, verify });
      },
    );
  }

  it("a callback of PayPal is accepted for each configured webhook, and the result has its index", () =>
    withPayPal(async ({ headers, verify }) => {
      expect(await verify(headers())).toMatchObject({ verified: [{ method: "public_key", index: 0 }] });
      expect(await verify(headers(PREVIOUS))).toMatchObject({
        verified: [{ method: "public_key", index: 1 }],
      });
      expect(await verify(headers("9ZZ000000Z0000000"))).toMatchObject({ code: "signature_mismatch" });
    }));

  it("the signed text of a callback of PayPal has the checksum of its body, since other bodies have it too", () =>
    withPayPal(async ({ headers, verify }) => {
      const { signedText } = (await verify(headers())) as Verified;
      expect(signedText?.("", true)).toBe(`${ID}|${TIME}|${crc32(BODY)}`);
      expect(signedText?.("", false)).toBe(`${ID}||${crc32(BODY)}`);
    }));

  it("a callback of PayPal with another body, id or time is refused", () =>
    withPayPal(async ({ headers, verify }) => {
      expect(await verify(headers(), Buffer.from([0x7b, 0xfe, 0x7d]))).toMatchObject({
        code: "signature_mismatch",
      });
      for (const [name, value] of [
        ["id", "other"],
        ["time", "2026-03-04T11:59:01Z"],
      ] as const)
        expect(await verify(headers(CURRENT, { [`paypal-transmission-${name}`]: [value] }))).toMatchObject({
          code: "signature_mismatch",
        });
    }));

  it.each([
    ["paypal-transmission-sig", [], "signature_missing"],
    ["paypal-cert-url", [], "signature_missing"],
    ["paypal-transmission-sig", ["a", "b"], "signature_repeated"],
    ["paypal-transmission-sig", ["ab-_"], "signature_malformed"],
    ["paypal-transmission-id", ["a|b"], "signature_malformed"],
    ["paypal-transmission-time", ["yesterday"], "signature_malformed"],
    ["paypal-auth-algo", ["MD5withRSA"], "signature_malformed"],
    ["paypal-auth-algo", ["SHA1withRSA"], "signature_malformed"],
  ])("a callback of PayPal with %s %j is refused without a request", (name, values, code) =>
    withPayPal(async ({ state, headers, verify }) => {
      expect(await verify(headers(CURRENT, { [name]: values }))).toMatchObject({ code });
      expect(state.asked).toBe(0);
    }),
  );

  it.each([
    ["live", "https://api.sandbox.paypal.com/v1/notifications/certs/CERT-1"],
    ["sandbox", "https://api.paypal.com/v1/notifications/certs/CERT-1"],
    ["live", "https://api.paypal.com/v1/notifications/certs/made-up-1"],
    ["live", "https://api.paypal.com/v1/notifications/certs/CERT-"],
    ["live", "https://api.paypal.com/v1/notifications/certs/CERT-1_2"],
    ["live", "https://www.paypal.com/v1/notifications/certs/CERT-1"],
    ["live", "https://api.paypal.com/v1/notifications/certs/../CERT-1"],
    ["live", "https://api.paypal.com.evil.example/v1/notifications/certs/CERT-1"],
    ["live", "http://api.paypal.com/v1/notifications/certs/CERT-1"],
  ] as const)("in the %s environment a certificate at %s is not asked for", async (environment, url) => {
    const scheme = createPayPalScheme({ webhookIds: [CURRENT], environment, clock: { now: () => NOW } });
    await withPayPal(async ({ headers }) => {
      const request = { ...POSTED, body: BODY, headers: headers(CURRENT, { "paypal-cert-url": [url] }) };
      expect(await scheme.verify(request)).toMatchObject({
        code: "signature_mismatch",
        detail: "`PayPal-Cert-Url`: its address is not one of the platform's",
      });
    });
  });

  it("a certificate of PayPal for another purpose signs no callback", () =>
    withPayPal(async ({ headers, verify }) => {
      expect(await verify(headers(), BODY, { environment: "sandbox" })).toMatchObject({
        detail: expect.stringContaining("expected messageverificationcerts.sandbox.paypal.com"),
      });
    }));

  it("an outage of PayPal's certificates is a failure of the receiver, not of the caller", () =>
    withPayPal(async ({ state, headers, verify }) => {
      state.isDown = true;
      expect(await verify(headers())).toMatchObject({ kind: "failed", code: "keys_unavailable" });
    }));

  it("a scheme of PayPal without a webhook id is refused", () => {
    for (const webhookIds of [[], [""], ["a|b"]])
      expect(() => createPayPalScheme({ webhookIds, clock: { now: () => NOW } })).toThrow(
        "expected the id of the webhook",
      );
  });
});
