import { describe, expect, it } from "vitest";
import { intercom, meta, mollie, whatsapp, xero, zoom } from "../../../src/sources/platforms/index.ts";
import { requestOf } from "../../support/contract.ts";
import { type Documented, describeDocumented, hmac, SECONDS, SECRET } from "../../support/documented-preset.ts";
import { answerTo, openPreset } from "../../support/preset.ts";

const DOCUMENTED: Record<string, Documented> = {
  Zoom: {
    preset: zoom({ secret: SECRET }),
    body: {
      event: "meeting.started",
      payload: { account_id: "AAAAAABBBB", object: {} },
      event_ts: 1_626_230_691_572,
    },
    headers: (body) => ({
      "x-zm-request-timestamp": SECONDS,
      "x-zm-signature": `v0=${hmac(`v0:${SECONDS}:${body}`)}`,
    }),
    events: [["", "meeting.started"]],
  },
  Xero: {
    preset: xero({ secret: SECRET }),
    body: {
      events: [
        {
          resourceId: "717f2bfc",
          eventDateUtc: "2017-06-21T01:15:39.902",
          eventType: "UPDATE",
          eventCategory: "INVOICE",
        },
        {
          resourceId: "717f2bfd",
          eventDateUtc: "2017-06-21T01:15:39.902",
          eventType: "CREATE",
          eventCategory: "CONTACT",
        },
      ],
      firstEventSequence: 1,
      lastEventSequence: 2,
      entropy: "S0m3r4Nd0mt3xt",
    },
    headers: (body) => ({ "x-xero-signature": hmac(body, "base64") }),
    events: [
      ["717f2bfc.2017-06-21T01:15:39.902.UPDATE", "INVOICE.UPDATE"],
      ["717f2bfd.2017-06-21T01:15:39.902.CREATE", "CONTACT.CREATE"],
    ],
  },
  Intercom: {
    preset: intercom({ secret: SECRET }),
    body: {
      type: "notification_event",
      id: "notif_ccd8a4d0-f965",
      topic: "contact.created",
      created_at: 1_539_600_000,
    },
    headers: (body) => ({ "X-Hub-Signature": `sha1=${hmac(body, "hex", { algorithm: "sha1" })}` }),
    events: [["notif_ccd8a4d0-f965", "contact.created"]],
  },
  "Mollie, with the prefix": {
    preset: mollie({ secret: SECRET }),
    body: { resource: "event", id: "event_GvJ8WHrp5isUdRub9CJyH", type: "payment-link.paid" },
    headers: (body) => ({ "X-Mollie-Signature": `sha256=${hmac(body)}` }),
    events: [["event_GvJ8WHrp5isUdRub9CJyH", "payment-link.paid"]],
  },
  "Mollie, without it": {
    preset: mollie({ secret: SECRET }),
    body: { resource: "event", id: "event_GvJ8WHrp5isUdRub9CJyH", type: "payment-link.paid" },
    headers: (body) => ({ "X-Mollie-Signature": hmac(body) }),
    events: [["event_GvJ8WHrp5isUdRub9CJyH", "payment-link.paid"]],
  },
  "a page of Meta": {
    preset: meta({ secret: SECRET, verifyToken: "meatyhamhock" }),
    body: {
      object: "page",
      entry: [
        { id: "0", time: 1_520_383_571, changes: [{ field: "photos", value: { verb: "update" } }] },
        {
          id: "0",
          time: 1_520_383_572,
          messaging: [{ sender: {}, recipient: {}, timestamp: 1, message: { mid: "m_A-b" } }],
        },
        { id: "0", time: 1_520_383_573, messaging: [{ sender: {}, recipient: {}, read: { watermark: 1 } }] },
      ],
    },
    headers: (body) => ({ "X-Hub-Signature-256": `sha256=${hmac(body)}` }),
    events: [
      ["0.1520383571.", "page.photos"],
      ["m_A-b", "page.message"],
      ["0.1520383573.", "page.read"],
    ],
  },
  WhatsApp: {
    preset: whatsapp({ secret: SECRET, verifyToken: "meatyhamhock" }),
    body: {
      object: "whatsapp_business_account",
      entry: [
        {
          id: "8856996819413533",
          changes: [
            {
              value: { messages: [{ id: "wamid.HBgL", timestamp: "1603059201", type: "text" }] },
              field: "messages",
            },
            {
              value: { statuses: [{ id: "wamid.HBgM", status: "read", timestamp: "1603059202" }] },
              field: "messages",
            },
            { value: { event: "APPROVED" }, field: "message_template_status_update" },
          ],
        },
      ],
    },
    headers: (body) => ({ "X-Hub-Signature-256": `sha256=${hmac(body)}` }),
    events: [
      ["wamid.HBgL", "messages"],
      ["wamid.HBgM.read.1603059202", "messages"],
      ["8856996819413533.", "message_template_status_update"],
    ],
  },
};

describeDocumented(DOCUMENTED);

describe("Zoom's endpoint.url_validation", () => {
  it("Zoom's endpoint.url_validation is answered with the token and its HMAC", async () => {
    const body = JSON.stringify({
      payload: { plainToken: "qgg8vlvZRS6UYooatFL8Aw" },
      event: "endpoint.url_validation",
    });
    const request = requestOf(body, { headers: DOCUMENTED.Zoom!.headers(body) });
    expect(await answerTo(zoom({ secret: SECRET }), request)).toMatchObject({
      status: 200,
      body: JSON.stringify({
        plainToken: "qgg8vlvZRS6UYooatFL8Aw",
        encryptedToken: hmac("qgg8vlvZRS6UYooatFL8Aw"),
      }),
    });
  });

  it("Zoom's endpoint.url_validation is refused where it is signed with another secret", async () => {
    const body = JSON.stringify({ payload: { plainToken: "abc" }, event: "endpoint.url_validation" });
    const { scheme, contract } = openPreset(zoom({ secret: "another secret" }));
    const request = requestOf(body, { headers: DOCUMENTED.Zoom!.headers(body) });
    expect(contract.challenge).toBeUndefined();
    expect(await scheme.verify(request)).toMatchObject({ code: "signature_mismatch" });
  });
});

describe("Xero's intent to receive", () => {
  const body = JSON.stringify({
    events: [],
    firstEventSequence: 0,
    lastEventSequence: 0,
    entropy: "S0m3r4Nd0m",
  });

  it("Xero's intent to receive is answered 200 without a body where it is signed", async () => {
    const request = requestOf(body, { headers: { "x-xero-signature": hmac(body, "base64") } });
    expect(await answerTo(xero({ secret: SECRET }), request)).toMatchObject({ status: 200, body: "" });
  });

  it("Xero's intent to receive is answered 401 without a body where it is signed wrongly", async () => {
    const { scheme, contract } = openPreset(xero({ secret: SECRET }));
    const request = requestOf(body, { headers: { "x-xero-signature": hmac(`${body} `, "base64") } });
    const verdict = await scheme.verify(request);
    expect(verdict).toMatchObject({ code: "signature_mismatch" });
    expect(contract.respond?.(verdict as never)).toMatchObject({ status: 401, body: "" });
  });
});

describe("Meta's question for a new address", () => {
  const preset = meta({ secret: SECRET, verifyToken: [undefined, "meatyhamhock"] });
  const ask = (token: string) =>
    openPreset(preset).contract.challenge?.(
      requestOf("", {
        method: "GET",
        target: `/api/meta/callback?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=${token}`,
      }),
    );

  it("Meta's question for a new address is answered with its challenge", async () => {
    expect(await ask("meatyhamhock")).toMatchObject({ status: 200, body: "1158201444" });
  });

  it("Meta's question for a new address is refused with another verify token", async () => {
    expect(await ask("another")).toMatchObject({ kind: "refused", code: "token_mismatch" });
  });

  it("Meta's question for a new address needs a verify token, which no log may show", () => {
    expect(preset.secrets).toContain("meatyhamhock");
    expect(() => whatsapp({ secret: SECRET, verifyToken: undefined })).toThrow("whatsapp: `verifyToken`");
    expect(() => meta({ secret: SECRET, verifyToken: "pasted\n" })).toThrow("meta: `verifyToken`");
  });
});

describe("Mollie's header", () => {
  const body = '{"id":"event_1","type":"payment-link.paid"}';
  const verify = (signatures: readonly string[]) =>
    openPreset(mollie({ secret: SECRET })).scheme.verify(
      requestOf(body, { headers: { "X-Mollie-Signature": signatures } }),
    );
  const other = "0".repeat(64);

  it.each([
    ["twice", [`sha256=${other}`, `sha256=${hmac(body)}`]],
    ["twice, joined by a proxy", [`${other}, ${hmac(body)}`]],
  ])("Mollie's header may stand %s, and one signature must fit", async (_, signatures) => {
    expect(await verify(signatures)).toHaveProperty("verified");
    expect(await verify(signatures.map((one) => one.replace(hmac(body), other)))).toMatchObject({
      code: "signature_mismatch",
    });
  });

  it("Mollie's header is refused with more than 16 signatures", async () => {
    expect(await verify(Array(17).fill(hmac(body)))).toMatchObject({ code: "signature_malformed" });
  });

  it("Mollie's header is refused where one of its signatures is none", async () => {
    expect(await verify([hmac(body), "sha1=abc"])).toMatchObject({ code: "signature_malformed" });
  });
});

describe("Intercom's question to a new address", () => {
  it("Intercom's question to a new address comes by HEAD and without a signature, and is answered", async () => {
    const { contract } = openPreset(intercom({ secret: SECRET }));
    expect(contract.methods).toEqual(["POST", "HEAD"]);
    expect(await contract.challenge?.(requestOf("", { method: "HEAD" }))).toMatchObject({ status: 200 });
  });
});

describe("Intercom's ping", () => {
  it("Intercom's ping is answered, and is no event", async () => {
    const body = JSON.stringify({ type: "notification_event", topic: "ping", id: null });
    const request = requestOf(body, {
      headers: { "X-Hub-Signature": `sha1=${hmac(body, "hex", { algorithm: "sha1" })}` },
    });
    expect(await answerTo(intercom({ secret: SECRET }), request)).toMatchObject({ status: 200 });
  });
});
