import { sign } from "node:crypto";
import { crc32 } from "node:zlib";
import { describe, expect, it } from "vitest";
import { type PayPalOptions, paypal } from "../../../src/sources/platforms/index.ts";
import { issueCertificate } from "../../support/certificate-chain.ts";
import { eventsOf, requestOf } from "../../support/contract.ts";
import { withHttpsServer } from "../../support/http-server.ts";

const SUBJECT = "messageverificationcerts.paypal.com";
const environment = {
  name: "paypal",
  clock: { now: () => new Date("2026-03-04T12:00:00Z") },
  origin: () => "https://hooks.example.com",
};
const [WEBHOOK, OTHER] = ["5GP028458E2496506", "1JE4291016473214C"];
const BODY = JSON.stringify({
  id: "WH-2WR32451HC0233532-67976317FL4543714",
  create_time: "2026-03-04T11:59:00.000Z",
  event_type: "PAYMENT.SALE.COMPLETED",
  resource: { id: "80021663DE681814L", amount: { total: "0.01" } },
});

describe("a callback of PayPal with its preset", () => {
  it("a callback of PayPal with its preset is accepted for its webhook's id, and for no other", async () => {
    const signer = await issueCertificate({ subject: SUBJECT, dnsNames: [SUBJECT] });
    await withHttpsServer(
      (_request, response) => response.end(signer.pem),
      async (origin) => {
        const [id, time] = ["69cd13f0-d67a-11e5-baa3-778b53f4ae55", "2026-03-04T11:59:00Z"];
        const text = `${id}|${time}|${WEBHOOK}|${crc32(BODY)}`;
        const headers = {
          "PayPal-Transmission-Id": id,
          "PayPal-Transmission-Time": time,
          "PayPal-Transmission-Sig": sign("sha256", Buffer.from(text), signer.privateKey).toString("base64"),
          "PayPal-Cert-Url": `${origin}/v1/notifications/certs/CERT-1`,
          "PayPal-Auth-Algo": "SHA256withRSA",
        };
        const pin = { host: /^127\.0\.0\.1:\d+$/, path: /^\/v1\/notifications\/certs\/[A-Z0-9-]+$/ };
        const verify = (webhookId: string) =>
          paypal({ webhookId, certificates: { pin } }).createScheme(environment).verify(requestOf(BODY, { headers }));
        expect(await verify(WEBHOOK)).toHaveProperty("verified");
        expect(await verify(OTHER)).toMatchObject({ code: "signature_mismatch" });
      },
    );
  });

  it("a callback of PayPal with its preset is an event under the id of its body", () => {
    const contract = paypal({ webhookId: WEBHOOK }).createContract(environment);
    const [event] = eventsOf(contract, requestOf(BODY));
    expect(event?.json).toMatchObject({
      event_id: expect.stringContaining("WH-"),
      timestamp: Date.parse("2026-03-04T12:00:00Z") / 1_000,
    });
    expect(event?.typeOf()).toBe("PAYMENT.SALE.COMPLETED");
    expect(contract.identity).toBe("id");
  });

  it.each([
    ["no webhook id", { webhookId: undefined }],
    ["an empty webhook id", { webhookId: "" }],
    ["a webhook id that ends in a newline", { webhookId: `${WEBHOOK}\n` }],
    ["an unknown environment", { webhookId: WEBHOOK, environment: "production" }],
  ])("a callback of PayPal with its preset is not expected with %s", (_, options) => {
    expect(() => paypal(options as PayPalOptions)).toThrow(TypeError);
  });
});
