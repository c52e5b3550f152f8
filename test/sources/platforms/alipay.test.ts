import { generateKeyPairSync, sign } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { alipay } from "../../../src/sources/platforms/index.ts";
import { opened, sent } from "../../support/preset-source.ts";

const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const PEM = publicKey.export({ type: "spki", format: "pem" }).toString();

type Fields = Readonly<Record<string, string>>;

function form(fields: Fields, { hash = "sha256", type = "RSA2" } = {}) {
  const content = Object.keys(fields)
    .sort()
    .map((name) => `${name}=${fields[name]}`)
    .join("&");
  const signature = sign(hash, Buffer.from(content), privateKey).toString("base64");
  return new URLSearchParams({ ...fields, sign: signature, sign_type: type }).toString();
}

const FIELDS = { notify_id: "ac05099524730693a8b330c5ecf72da9786", notify_type: "trade_status_sync" };
const verify = (body: string) => opened(alipay({ publicKey: PEM })).scheme.verify(sent(body));

describe("the preset alipay", () => {
  it("a form of any fields is authentic, in whatever order they come", async () => {
    // A form with `__proto__` is refused before its signature is looked at.
    const name = fc.stringMatching(/^[a-z_]{1,12}$/).filter((one) => !one.startsWith("sign") && one !== "__proto__");
    await fc.assert(
      fc.asyncProperty(fc.dictionary(name, fc.string({ unit: "grapheme" })), async (fields) => {
        expect(await verify(form(fields))).toMatchObject({ verified: [{ method: "public_key" }] });
        const reversed = form(fields).split("&").reverse().join("&");
        expect(await verify(reversed)).toMatchObject({ verified: [{ index: 0 }] });
      }),
      { numRuns: 25 },
    );
  });

  it("the older RSA with SHA-1 is refused, although the form asks for it and the key made it", async () => {
    const body = form(FIELDS, { hash: "sha1", type: "RSA" });
    expect(await verify(body)).toMatchObject({
      code: "signature_malformed",
      detail: "`sign_type`: expected RSA2",
    });
  });

  it("a field that is added, changed or repeated is refused", async () => {
    const body = form(FIELDS);
    for (const other of [`${body}&total_amount=1`, body.replace("ac05", "ac06"), `${body}&notify_id=x`])
      expect(await verify(other)).toMatchObject({ kind: "refused" });
  });

  it("a notification whose fields are cut elsewhere than where they were signed has no other id or type", async () => {
    const trade = {
      ...FIELDS,
      notify_time: "2026-06-15 20:00:00",
      out_trade_no: "order-77",
      subject: "Salt & pepper",
      trade_no: "2026061522001",
      trade_status: "TRADE_SUCCESS",
    };
    const sent = new URLSearchParams(form(trade));
    expect(await verify(sent.toString())).toHaveProperty("verified");
    for (const [name, next] of [
      ["notify_id", "notify_time"],
      ["notify_type", "out_trade_no"],
      ["trade_no", "trade_status"],
    ] as const) {
      const merged = new URLSearchParams(sent);
      merged.set(name, `${trade[name]}&${next}=${trade[next]}`);
      merged.delete(next);
      const detail = `${name}: holds \`&\` or \`=\`, which the signed text does not escape`;
      expect(await verify(merged.toString())).toMatchObject({ code: "signature_malformed", detail });
    }
  });

  it("a field whose name holds a separator of the signed text is refused", async () => {
    const detail = "the name of a field holds `&` or `=`";
    for (const name of ["a=1&b", "a&b", "a=b"])
      expect(await verify(form({ ...FIELDS, [name]: "2" }))).toMatchObject({ detail });
  });

  it("a trade's status is part of the type, where there is one", () => {
    const { contract } = opened(alipay({ publicKey: PEM }));
    const read = (fields: Fields) => contract.read(sent(form(fields)));
    expect(read(FIELDS)).toMatchObject({ event: { json: { event_type: "trade_status_sync" } } });
    expect(read({ ...FIELDS, trade_status: "TRADE_CLOSED" })).toMatchObject({
      event: {
        json: {
          event_id: "ac05099524730693a8b330c5ecf72da9786",
          event_type: "trade_status_sync.TRADE_CLOSED",
        },
      },
    });
  });

  it("the response to success, a duplicate and an ignored event is the text that Alipay waits for", () => {
    const { respond } = opened(alipay({ publicKey: PEM })).contract;
    for (const kind of ["success", "already_processed", "ignored"] as const)
      expect(respond?.({ kind, result: {} } as never)).toMatchObject({ status: 200, body: "success" });
    expect(respond?.({ kind: "failed", code: "internal", cause: "" })).toMatchObject({
      status: 500,
      body: "fail",
    });
  });

  it.each([
    [{ publicKey: undefined }, /`publicKey`: got none/],
    [{ publicKey: "MIIB" }, /alipay: `publicKey`: /],
    [{ publicKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString() }, /is a private key/],
  ])("wrong options are refused: case %#", (options, message) => {
    expect(() => alipay(options)).toThrow(message);
  });
});
