import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { adyen } from "../../../src/sources/platforms/index.ts";
import { eventsOf, requestOf } from "../../support/contract.ts";

const [KEY, PREVIOUS] = ["44".repeat(32), "55".repeat(32)];
const environment = {
  name: "adyen",
  clock: { now: () => new Date("2026-03-04T12:00:00Z") },
  origin: () => "https://hooks.example.com",
};
const source = adyen({ secret: [KEY, PREVIOUS] });
const scheme = source.createScheme(environment);
const contract = source.createContract(environment);

const ITEM = {
  amount: { currency: "EUR", value: 1130 },
  eventCode: "AUTHORISATION",
  eventDate: "2026-03-04T12:59:00+01:00",
  merchantAccountCode: "TestMerchant",
  merchantReference: "Bestellung für Zoë",
  pspReference: "7914073381342284",
  success: "true",
};

/** docs.adyen.com, "Verify HMAC signatures": eight fields, empty where one is missing. */
function signed(item: typeof ITEM, key = KEY) {
  const { pspReference, merchantAccountCode, merchantReference, amount, eventCode, success } = item;
  const fields = [pspReference, "", merchantAccountCode, merchantReference, amount.value, amount.currency];
  const text = [...fields, eventCode, success].join(":");
  const hmacSignature = createHmac("sha256", Buffer.from(key, "hex")).update(text).digest("base64");
  return { NotificationRequestItem: { ...item, additionalData: { hmacSignature } } };
}

const posted = (...notificationItems: object[]) => requestOf({ live: "false", notificationItems } as never);

describe("a standard webhook of Adyen", () => {
  it("a standard webhook of Adyen is accepted, and says which keys its items were signed with", () => {
    expect(scheme.verify(posted(signed(ITEM)))).toMatchObject({ verified: [{ method: "hmac", index: 0 }] });
    expect(scheme.verify(posted(signed(ITEM), signed(ITEM, PREVIOUS)))).toMatchObject({
      verified: [{ index: 0 }, { index: 1 }],
    });
  });

  it.each([
    ["pspReference", "other"],
    ["originalReference", "other"],
    ["merchantAccountCode", "Other"],
    ["merchantReference", "other"],
    ["amount", { currency: "EUR", value: 1131 }],
    ["amount", { currency: "USD", value: 1130 }],
    ["eventCode", "REFUND"],
    ["success", "false"],
  ])("a standard webhook of Adyen is refused after a change of %s", (name, value) => {
    const { NotificationRequestItem: item } = signed(ITEM);
    const changed = { NotificationRequestItem: { ...item, [name]: value } };
    expect(scheme.verify(posted(changed))).toMatchObject({ code: "signature_mismatch" });
    expect(scheme.verify(posted(signed(ITEM), changed))).toMatchObject({ code: "signature_mismatch" });
  });

  it.each([
    ["no item", [], "signature_missing"],
    ["an item without a signature", [signed(ITEM), { NotificationRequestItem: ITEM }], "signature_missing"],
    ["an item of another form", [{ Item: ITEM }], "signature_malformed"],
    ["too many items", Array(1_001).fill(signed(ITEM)), "signature_malformed"],
  ])("a standard webhook of Adyen with %s is refused", (_, items, code) => {
    expect(scheme.verify(posted(...items))).toMatchObject({ code });
  });

  it.each([
    ["", "signature_missing"],
    ["{}", "signature_missing"],
    ["[", "signature_malformed"],
  ])("a standard webhook of Adyen whose body is %j is refused", (body, code) => {
    expect(scheme.verify(requestOf(body))).toMatchObject({ code });
  });

  it("a standard webhook of Adyen that has one signed item twice has one event, whatever its unsigned fields", () => {
    const { NotificationRequestItem: item } = signed(ITEM);
    const variants = ["", "a", "b"].map((reason) => ({ NotificationRequestItem: { ...item, reason } }));
    expect(eventsOf(contract, posted(...variants)).map(({ eventId }) => eventId)).toEqual([
      "7914073381342284.AUTHORISATION.true",
    ]);
  });

  it("Adyen's reports of one name for two accounts are two events", () => {
    const report = { ...ITEM, eventCode: "REPORT_AVAILABLE", pspReference: "dispute_report_2026_11_01.csv" };
    const of = (merchantAccountCode: string) =>
      eventsOf(contract, posted(signed({ ...report, merchantAccountCode }))).map(({ eventId }) => eventId);
    expect(of("ShopDE")).toEqual(["dispute_report_2026_11_01.csv.REPORT_AVAILABLE.true.ShopDE"]);
    expect(of("ShopFR")).not.toEqual(of("ShopDE"));
  });

  it.each([
    ["pspReference", `"${ITEM.pspReference}"`, `${ITEM.pspReference}`],
    ["pspReference", `"${ITEM.pspReference}"`, `${ITEM.pspReference}.00000000000000000001`],
    ["success", `"success":"true"`, `"success":true`],
    ["value", "1130", "1130.0000000000000000000009"],
    ["value", "1130", '"1130"'],
    ["value", "1130", "[1130]"],
  ])("a standard webhook of Adyen is refused where %s %s is spelled %s", (_, right, other) => {
    const text = JSON.stringify({ notificationItems: [signed(ITEM)] });
    expect(scheme.verify(requestOf(text))).toHaveProperty("verified");
    expect(text).toContain(right);
    expect(scheme.verify(requestOf(text.replace(right, other)))).toMatchObject({
      code: "signature_malformed",
    });
  });

  it("a standard webhook of Adyen is refused where a colon was moved between its signed fields", () => {
    const item = { ...ITEM, merchantReference: "shop:12:34" };
    const { NotificationRequestItem: right } = signed(item);
    expect(scheme.verify(posted({ NotificationRequestItem: right }))).toHaveProperty("verified");
    const text = [item.pspReference, "", item.merchantAccountCode, item.merchantReference, "1130", "EUR"];
    const pieces = [...text, item.eventCode, item.success].join(":").split(":");
    // All ways to cut the signed text into eight fields.
    const cuts = (from: number, fields: number): string[][] => {
      if (fields === 1) return [[pieces.slice(from).join(":")]];
      const ends = Array.from({ length: pieces.length - from - fields + 1 }, (_, more) => from + 1 + more);
      return ends.flatMap((end) => {
        const field = pieces.slice(from, end).join(":");
        return cuts(end, fields - 1).map((rest) => [field, ...rest]);
      });
    };
    const accepted = cuts(0, 8).filter((fields) => {
      const [psp, originalReference, merchantAccountCode, merchantReference, value, currency] = fields;
      const moved = {
        ...right,
        pspReference: psp,
        originalReference,
        merchantAccountCode,
        merchantReference,
        amount: { value: /^\d+$/.test(value ?? "") ? Number(value) : value, currency },
        eventCode: fields[6],
        success: fields[7],
      };
      return "verified" in (scheme.verify(posted({ NotificationRequestItem: moved })) as object);
    });
    expect(accepted.map((fields) => fields[3])).toEqual(["shop:12:34"]);
  });

  it("a report of Adyen is named by a file, whose name alone may hold colons", () => {
    const pspReference = "report_2022-11-01T00:00:00_2022-11-02T23:59:59.csv";
    const report = { ...ITEM, eventCode: "REPORT_AVAILABLE", merchantReference: "", pspReference };
    const { NotificationRequestItem: item } = signed(report);
    expect(scheme.verify(posted({ NotificationRequestItem: item }))).toHaveProperty("verified");
    const moved = {
      ...item,
      pspReference: "report_2022-11-01T00",
      originalReference: "00",
      merchantAccountCode: "00_2022-11-02T23",
      merchantReference: "59:59.csv::TestMerchant:",
    };
    expect(scheme.verify(posted({ NotificationRequestItem: moved }))).toMatchObject({
      code: "signature_malformed",
      detail: "`merchantReference`: holds a colon, which the signed text does not escape",
    });
  });

  it("a standard webhook of Adyen without a pspReference is refused", () => {
    expect(scheme.verify(posted(signed({ ...ITEM, pspReference: "" })))).toMatchObject({
      code: "signature_malformed",
    });
  });

  it("a standard webhook of Adyen has an event for each item, under its reference, code and success", () => {
    const request = posted(signed(ITEM), signed({ ...ITEM, eventCode: "CAPTURE", success: "false" }));
    expect(eventsOf(contract, request).map(({ eventId }) => eventId)).toEqual([
      "7914073381342284.AUTHORISATION.true",
      "7914073381342284.CAPTURE.false",
    ]);
  });

  it("a standard webhook of Adyen is acknowledged with [accepted]", () => {
    expect(contract.respond?.({ kind: "ignored" })).toMatchObject({ status: 200, body: "[accepted]" });
  });
});
