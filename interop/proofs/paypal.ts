import { sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { crc32 } from "node:zlib";
import sdk from "paypal-rest-sdk";
import { paypal } from "../../src/sources/platforms/index.ts";
import { issueCertificate } from "../../test/support/certificate-chain.ts";
import { startKeyServer } from "../key-server.ts";
import type { PlatformProof, ProofEvent, ProofRequest } from "../platform-proof.ts";

/** What PayPal's sandbox sent to PayPal in 2015, and its certificate of then. */
const published: {
  readonly webhookId: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly certificateName: string;
  readonly certificate: readonly string[];
  readonly body: string;
} = JSON.parse(readFileSync(new URL("../vectors/paypal.json", import.meta.url), "utf8"));

const SUBJECT = "messageverificationcerts.sandbox.paypal.com";
const PATH = "/v1/notifications/certs/";
const signer = await issueCertificate({ subject: SUBJECT, dnsNames: [SUBJECT] });
const certificates = new Map([
  ["CERT-OF-THE-PROOF", signer.pem],
  [published.certificateName, published.certificate.join("\n")],
]);
let origin = "";

/** In the place of api.sandbox.paypal.com. */
const start = () =>
  startKeyServer(
    (request, response) => {
      const pem = certificates.get(request.url?.slice(PATH.length) ?? "");
      response.writeHead(pem === undefined ? 404 : 200).end(pem);
    },
    (address) => {
      origin = address;
    },
  );

function signed(body: Uint8Array, { secret, id, now }: ProofEvent): ProofRequest {
  const time = `${now.toISOString().slice(0, 19)}Z`;
  const text = Buffer.from(`${id}|${time}|${secret}|${crc32(body)}`);
  return {
    headers: {
      "paypal-transmission-id": id,
      "paypal-transmission-time": time,
      "paypal-transmission-sig": sign("sha256", text, signer.privateKey).toString("base64"),
      "paypal-cert-url": `${origin}${PATH}CERT-OF-THE-PROOF`,
      "paypal-auth-algo": "SHA256withRSA",
      "content-type": "application/json",
    },
    body,
  };
}

/** Here a secret is the webhook's id. */
export const paypalProof: PlatformProof = {
  preset: "paypal",
  by: "paypal-rest-sdk 1.6.9, webhookEvent.verify (later versions ask PayPal's API); the vector of its test",
  secrets: ["5GP028458E2496506", "1JE4291016473214C", "9ZZ00000Z0000000Z"],
  start,
  source: (webhookId) =>
    paypal({
      webhookId,
      environment: "sandbox",
      certificates: { pin: { host: /^127\.0\.0\.1:\d+$/, path: /^\/v1\/notifications\/certs\/[\w-]+$/ } },
    }),
  signed,
  callback(event) {
    const body = {
      id: event.id,
      event_version: "1.0",
      create_time: event.now.toISOString(),
      event_type: "PAYMENT.SALE.COMPLETED",
      resource: { id: "80021663DE681814L", amount: { total: "0.01", currency: "USD" }, note: "grüße" },
    };
    return signed(Buffer.from(JSON.stringify(body)), event);
  },
  accepts: ({ headers, body }, { secret }) =>
    new Promise((resolve) => {
      const text = Buffer.from(body).toString();
      sdk.notification.webhookEvent.verify({ ...headers }, text, secret, (error, isRight) =>
        resolve(error === null && isRight === true),
      );
    }),
  vector: () => ({
    secret: published.webhookId,
    now: new Date("2015-05-18T15:46:00Z"),
    request: {
      // The certificate's address is not signed.
      headers: { ...published.headers, "paypal-cert-url": `${origin}${PATH}${published.certificateName}` },
      body: Buffer.from(published.body),
    },
  }),
  toleranceSeconds: null,
};
