import { X509Certificate } from "node:crypto";
import { SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { APPLE_ROOT_CA_G3 } from "../../../src/sources/platforms/apple-app-store/apple-root.ts";
import { type AppleAppStoreOptions, appleAppStore } from "../../../src/sources/platforms/index.ts";
import { issueCertificate } from "../../support/certificate-chain.ts";
import { eventsOf, requestOf } from "../../support/contract.ts";

const NOW = new Date("2026-03-04T12:00:00Z");
const environment = { name: "apple", clock: { now: () => NOW }, origin: () => "https://hooks.example.com" };
const root = await issueCertificate({ subject: "Root", isAuthority: true, type: "ec" });
const authority = await issueCertificate({
  ...{
    subject: "Authority",
    issuer: root,
    isAuthority: true,
    type: "ec",
    marks: ["1.2.840.113635.100.6.2.1"],
  },
});
const leaf = await issueCertificate({
  ...{ subject: "Leaf", issuer: authority, type: "ec", marks: ["1.2.840.113635.100.6.11.1"] },
});
const other = await issueCertificate({ subject: "Developer", issuer: authority, type: "ec" });

const APP = { bundleId: "com.example.app", appAppleId: 1_234_567_890 };
const OPTIONS: AppleAppStoreOptions = { ...APP, rootCertificates: root.pem };
const SANDBOX: AppleAppStoreOptions = { ...OPTIONS, environment: "Sandbox" };

function signJws(payload: object, by = leaf): Promise<string> {
  const header = { alg: "ES256", x5c: [by.x5c, authority.x5c, root.x5c] };
  return new SignJWT({ ...payload }).setProtectedHeader(header).sign(by.privateKey);
}

async function verify(payload: object, options = OPTIONS, by = leaf): Promise<unknown> {
  const signedPayload = await signJws({ notificationType: "TEST", notificationUUID: "u1", ...payload }, by);
  return appleAppStore(options).createScheme(environment).verify(requestOf({ signedPayload }));
}

const DATA = { ...APP, environment: "Production" };

describe("a notification of the App Store", () => {
  it.each<[string, object, AppleAppStoreOptions]>([
    ["data of the app", { data: DATA }, OPTIONS],
    ["a summary of the app", { summary: DATA }, OPTIONS],
    ["data about the app", { appData: DATA }, OPTIONS],
    ["an external purchase", { externalPurchaseToken: { ...APP, externalPurchaseId: "a1" } }, OPTIONS],
    ["the sandbox, which has no id of the app", { data: { bundleId: APP.bundleId, environment: "Sandbox" } }, SANDBOX],
    [
      "an external purchase of the sandbox",
      { externalPurchaseToken: { ...APP, externalPurchaseId: "SANDBOX_a" } },
      SANDBOX,
    ],
  ])("a notification of the App Store is accepted with %s", async (_, payload, options) => {
    expect(await verify(payload, options)).toMatchObject({ verified: [{ method: "jwt", index: 0 }] });
  });

  it.each<[string, object, AppleAppStoreOptions]>([
    ["another app's bundle", { data: { ...DATA, bundleId: "com.example.other" } }, OPTIONS],
    ["another app's id", { data: { ...DATA, appAppleId: 1 } }, OPTIONS],
    ["the sandbox in production", { data: { ...DATA, environment: "Sandbox" } }, OPTIONS],
    ["production in the sandbox", { data: DATA }, SANDBOX],
    [
      "a sandbox purchase in production",
      { externalPurchaseToken: { ...APP, externalPurchaseId: "SANDBOX_a" } },
      OPTIONS,
    ],
    ["no app", {}, OPTIONS],
  ])("a notification of the App Store is refused with %s", async (_, payload, options) => {
    expect(await verify(payload, options)).toMatchObject({ code: "jwt_claims" });
  });

  it("a notification of the App Store is refused by a certificate that does not sign for the App Store", async () => {
    expect(await verify({ data: DATA }, OPTIONS, other)).toMatchObject({ code: "jwt_signature" });
  });

  it("a notification of the App Store is refused by a chain that does not lead to Apple's root, by default", async () => {
    expect(await verify({ data: DATA }, APP)).toMatchObject({ code: "jwt_signature" });
  });

  it("a notification of the App Store is an event with its inner JWSs decoded", async () => {
    const signedTransactionInfo = await signJws({ transactionId: "2000000000000001" });
    const data = { ...DATA, signedTransactionInfo };
    const payload = {
      notificationType: "DID_RENEW",
      notificationUUID: "u1",
      signedDate: 1_772_625_540_123,
      data,
    };
    const contract = appleAppStore(OPTIONS).createContract(environment);
    const request = async (over: object) => requestOf({ signedPayload: await signJws({ ...payload, ...over }) });
    const [plain] = eventsOf(contract, await request({}));
    const [detailed] = eventsOf(contract, await request({ subtype: "BILLING_RECOVERY" }));
    expect(plain?.json).toMatchObject({
      event_id: "u1",
      event_type: "DID_RENEW",
      timestamp: 1_772_625_540,
      data: { data: { signedTransactionInfo: { transactionId: "2000000000000001" } } },
    });
    expect(detailed?.typeOf()).toBe("DID_RENEW.BILLING_RECOVERY");
    expect(contract.identity).toBe("signed-id");
  });

  it.each([
    ["no bundle", { appAppleId: 1 }],
    ["no id of the app in production", { bundleId: "com.example.app" }],
    ["an id of the app that is a text", { ...APP, appAppleId: "1234567890" }],
    ["an unknown environment", { ...APP, environment: "Xcode" }],
    ["a root that is no certificate", { ...APP, rootCertificates: "a root" }],
  ])("a notification of the App Store is not expected with %s", (_, options) => {
    expect(() => appleAppStore(options as AppleAppStoreOptions)).toThrow(TypeError);
  });
});

it("the root that is trusted by default is Apple Root CA - G3", () => {
  const certificate = new X509Certificate(APPLE_ROOT_CA_G3);
  expect(certificate.fingerprint256.replaceAll(":", "").toLowerCase()).toBe(
    "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179",
  );
  expect(certificate.subject).toContain("CN=Apple Root CA - G3");
});
