import { generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, it } from "vitest";
import { antom } from "../../../src/sources/platforms/index.ts";
import { opened, sent } from "../../support/preset-source.ts";

const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const KEY = publicKey.export({ type: "spki", format: "der" }).toString("base64");
const BODY = JSON.stringify({ notifyType: "PAYMENT_RESULT", paymentId: "2026061519401080001001" });

/** By "Sign a request and verify the signature", "Receive a notification". */
function callback(write: (signature: string) => string, body = BODY) {
  const content = `POST /api/source/callback\nCLIENT_1.2026-06-15T12:00:00Z.${BODY}`;
  const headers = {
    "Client-Id": "CLIENT_1",
    "Request-Time": "2026-06-15T12:00:00Z",
    Signature: write(sign("sha256", Buffer.from(content), privateKey).toString("base64")),
  };
  return sent(body, { headers });
}

const fields = (signature: string) => `algorithm=RSA256,keyVersion=1,signature=${signature}`;
const { scheme, contract } = opened(antom({ publicKey: KEY }));

describe("the preset antom", () => {
  it.each([
    ["as it is", fields],
    ["percent-encoded", (signature: string) => fields(encodeURIComponent(signature))],
    ["with spaces after the commas", (signature: string) => fields(signature).replaceAll(",", ", ")],
  ])("a signature that is written %s is authentic", async (_case, write) => {
    expect(await scheme.verify(callback(write))).toMatchObject({
      verified: [{ method: "public_key", index: 0 }],
    });
  });

  it.each([
    ["another body", callback(fields, BODY.replace("RESULT", "PENDING"))],
    ["a half percent sign", callback((signature) => fields(`${signature}%`))],
    ["no field of that name", callback((signature) => `algorithm=RSA256,sign=${signature}`)],
    ["no header", sent(BODY)],
  ])("a callback with %s is refused", async (_case, request) => {
    expect(await scheme.verify(request)).toMatchObject({ kind: "refused" });
  });

  it("the hash of the body is the event's id, and its notifyType the type", () => {
    const found = contract.read(callback(fields));
    expect(found).toMatchObject({
      event: { json: { event_id: expect.stringMatching(/^[0-9a-f]{64}$/), event_type: "PAYMENT_RESULT" } },
    });
    expect(contract.identity).toBe("bytes");
    expect(contract.read(sent({ result: {} }))).toMatchObject({
      event: { json: { event_type: "NOTIFICATION" } },
    });
  });

  it("the response has the fixed values that acknowledge a notification", () => {
    const response = contract.respond?.({ kind: "success", result: {} });
    expect(JSON.parse(response?.body ?? "")).toMatchObject({
      result: { resultCode: "SUCCESS", resultStatus: "S" },
    });
  });
});
