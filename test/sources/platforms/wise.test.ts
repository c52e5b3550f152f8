import { generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, it } from "vitest";
import { wise } from "../../../src/sources/platforms/index.ts";
import { eventsOf, requestOf } from "../../support/contract.ts";

const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const pem = publicKey.export({ format: "pem", type: "spki" }).toString();
const environment = {
  name: "wise",
  clock: { now: () => new Date("2026-03-04T12:00:00Z") },
  origin: () => "https://hooks.example.com",
};
const scheme = wise({ publicKey: pem }).createScheme(environment);
const contract = wise({ publicKey: pem }).createContract(environment);

/** docs.wise.com, "How to create a webhook event handler". */
const BODY = JSON.stringify({
  data: { resource: { id: 111, type: "transfer" }, occurred_at: "2020-01-01T12:34:56Z" },
  subscription_id: "01234567-89ab-cdef-0123-456789abcdef",
  event_type: "transfers#state-change",
  schema_version: "2.0.0",
  sent_at: "2020-01-01T12:34:56Z",
});

function posted(body = BODY, headers: Record<string, string> = {}) {
  const signature = sign("sha256", Buffer.from(BODY), privateKey).toString("base64");
  return requestOf(body, { headers: { "X-Signature-SHA256": signature, ...headers } });
}

describe("a callback of Wise", () => {
  it("a callback of Wise is accepted as it was signed, and refused after a change", () => {
    expect(scheme.verify(posted())).toMatchObject({ verified: [{ method: "public_key", index: 0 }] });
    expect(scheme.verify(posted(BODY.replace("111", "112")))).toMatchObject({ code: "signature_mismatch" });
    expect(scheme.verify(requestOf(BODY))).toMatchObject({ code: "signature_missing" });
  });

  it("a callback of Wise is one event under each delivery's id, which handlers get as a header", () => {
    const [named, bare] = [posted(BODY, { "X-Delivery-Id": "d1" }), posted()].map(
      (request) => eventsOf(contract, request)[0],
    );
    expect(named?.json).toMatchObject({ timestamp: 1_577_882_096, headers: { "x-delivery-id": "d1" } });
    expect(named?.typeOf()).toBe("transfers#state-change");
    expect(bare?.eventId).toBe(named?.eventId);
    expect(contract.identity).toBe("bytes");
  });

  it("a callback of Wise that tests a new subscription is no event", () => {
    expect(contract.read(posted(BODY, { "X-Test-Notification": "true" }))).toMatchObject({
      kind: "handshake",
    });
  });

  it("a callback of another customer of Wise is refused where the source names its subscriptions", async () => {
    const of = (subscriptionId: readonly string[]) =>
      wise({ publicKey: pem, subscriptionId }).createScheme(environment);
    const mine = of(["another", "01234567-89ab-cdef-0123-456789abcdef"]);
    expect(await mine.verify(posted())).toHaveProperty("verified");
    const foreign = of(["fedcba98-7654-3210-fedc-ba9876543210"]);
    expect(await foreign.verify(posted())).toMatchObject({
      kind: "refused",
      code: "signature_mismatch",
      detail: "`subscription_id`: none of `subscriptionId`; Wise signs for all its customers with one key",
    });
    const test = { "X-Test-Notification": "true" };
    expect(await foreign.verify(posted(BODY, test))).toHaveProperty("verified");
    expect(contract.read(posted(BODY, test))).toMatchObject({ kind: "handshake" });
    expect(await mine.verify(posted(BODY.replace("111", "112")))).toMatchObject({
      code: "signature_mismatch",
    });
  });

  it("an unset variable of the subscriptions is refused, and a source without them says what is open", () => {
    expect(() => wise({ publicKey: pem, subscriptionId: undefined })).toThrow(/^wise: `subscriptionId`: got none/);
    expect(wise({ publicKey: pem, subscriptionId: "1" }).open).toBeUndefined();
    expect(wise({ publicKey: pem }).open).toMatch(
      /^Wise signs for all its customers .*: set `subscriptionId` to yours$/,
    );
  });

  it.each(["", "a key", pem.slice(0, 60)])("the preset of Wise refuses the key %j", (key) => {
    expect(() => wise({ publicKey: key })).toThrow(TypeError);
  });
});
