import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { failed } from "../../../src/domain/index.ts";
import {
  bitbucket,
  cloudinary,
  docusign,
  elevenlabs,
  gemini,
  github,
  jira,
  linkedin,
  nylas,
  retell,
  tiktok,
  vercel,
  x,
} from "../../../src/sources/platforms/index.ts";
import { eventsOf, requestOf } from "../../support/contract.ts";
import { type Documented, describeDocumented, hmac, SECONDS, SECRET } from "../../support/documented-preset.ts";
import { openPreset, PRESET_NOW, verifiedEvents } from "../../support/preset.ts";

const sha1 = (text: string) => createHash("sha1").update(text).digest("hex");
const MILLISECONDS = `${SECONDS}000`;
const ENVELOPE = { envelopeId: "3f9a2c1e", envelopeSummary: { status: "completed" } };
const GENERATED = "2026-06-15T12:00:00.4471203Z";

const DOCUMENTED: Record<string, Documented> = {
  "Bitbucket Cloud": {
    preset: bitbucket({ secret: SECRET }),
    body: { actor: {}, repository: {}, push: { changes: [] } },
    headers: (body) => ({
      "X-Hub-Signature": `sha256=${hmac(body)}`,
      "X-Request-UUID": "50062f71-3d4d",
      "X-Event-Key": "repo:push",
    }),
    events: [["50062f71-3d4d", "repo:push"]],
  },
  "Jira Cloud": {
    preset: jira({ secret: SECRET }),
    body: { timestamp: 1_784_065_200_000, webhookEvent: "jira:issue_created", issue: { key: "ENG-482" } },
    headers: (body) => ({
      "X-Hub-Signature": `sha256=${hmac(body)}`,
      "X-Atlassian-Webhook-Identifier": "975a1f0e",
    }),
    events: [["975a1f0e", "jira:issue_created"]],
  },
  Cloudinary: {
    preset: cloudinary({ secret: SECRET }),
    body: { notification_type: "upload", public_id: "sample", request_id: "d9ff" },
    headers: (body) => ({ "X-Cld-Timestamp": SECONDS, "X-Cld-Signature": sha1(body + SECONDS + SECRET) }),
    events: [["", "upload"]],
  },
  "Cloudinary with SHA-256": {
    preset: cloudinary({ secret: SECRET, algorithm: "sha256" }),
    body: { notification_type: "upload", public_id: "sample", request_id: "d9ff" },
    headers: (body) => ({
      "X-Cld-Timestamp": SECONDS,
      "X-Cld-Signature": createHash("sha256")
        .update(body + SECONDS + SECRET)
        .digest("hex"),
    }),
    events: [["", "upload"]],
  },
  Gemini: {
    preset: gemini({ secret: `whsec_${SECRET}` }),
    body: { type: "batch.succeeded", timestamp: "2026-06-15T12:00:00Z", data: { id: "batches/1" } },
    headers: (body) => ({
      "webhook-id": "msg_1",
      "webhook-timestamp": SECONDS,
      "webhook-signature": `v1,${hmac(`msg_1.${SECONDS}.${body}`, "base64", { key: Buffer.from(SECRET, "base64") })}`,
    }),
    events: [["msg_1", "batch.succeeded"]],
  },
  "DocuSign Connect": {
    preset: docusign({ secret: SECRET }),
    body: { event: "envelope-completed", retryCount: 0, generatedDateTime: GENERATED, data: ENVELOPE },
    headers: (body) => ({ "X-DocuSign-Signature-1": hmac(body, "base64") }),
    events: [[`3f9a2c1e.envelope-completed.${GENERATED}`, "envelope-completed"]],
  },
  "a recipient of DocuSign Connect, with the second key": {
    preset: docusign({ secret: SECRET }),
    body: {
      event: "recipient-completed",
      generatedDateTime: GENERATED,
      data: { ...ENVELOPE, recipientId: "1" },
    },
    headers: (body) => ({
      "X-DocuSign-Signature-1": hmac(body, "base64", { key: "the key of another service" }),
      "X-DocuSign-Signature-2": hmac(body, "base64"),
    }),
    events: [[`3f9a2c1e.1.recipient-completed.${GENERATED}`, "recipient-completed"]],
  },
  "a lead of LinkedIn": {
    preset: linkedin({ secret: SECRET }),
    body: {
      type: "LEAD_ACTION",
      leadGenFormResponse: "urn:li:leadGenFormResponse:1",
      leadAction: "CREATED",
      occurredAt: 1_781_524_800_000,
    },
    headers: (body) => ({ "X-LI-Signature": hmac(`hmacsha256=${body}`) }),
    events: [["urn:li:leadGenFormResponse:1.CREATED.1781524800000", "LEAD_ACTION"]],
  },
  "social actions of LinkedIn": {
    preset: linkedin({ secret: SECRET }),
    body: { type: "ORGANIZATION_SOCIAL_ACTION_NOTIFICATIONS", notifications: [{ notificationId: 1 }] },
    headers: (body) => ({ "X-LI-Signature": hmac(`hmacsha256=${body}`) }),
    events: [["", "ORGANIZATION_SOCIAL_ACTION_NOTIFICATIONS"]],
  },
  X: {
    preset: x({ secret: SECRET }),
    body: { for_user_id: "2244994945", user_has_blocked: false, tweet_create_events: [{ id_str: "1" }] },
    headers: (body) => ({ "x-twitter-webhooks-signature": `sha256=${hmac(body, "base64")}` }),
    events: [["", "tweet_create_events"]],
  },
  Nylas: {
    preset: nylas({ secret: SECRET }),
    body: { specversion: "1.0", type: "message.created", id: "mock-id", time: 1_723_821_985, data: {} },
    headers: (body) => ({ "x-nylas-signature": hmac(body) }),
    events: [["mock-id", "message.created"]],
  },
  ElevenLabs: {
    preset: elevenlabs({ secret: SECRET }),
    body: {
      type: "post_call_transcription",
      event_timestamp: 1_739_537_297,
      data: { conversation_id: "abc" },
    },
    headers: (body) => ({ "ElevenLabs-Signature": `t=${SECONDS},v0=${hmac(`${SECONDS}.${body}`)}` }),
    events: [["post_call_transcription.abc", "post_call_transcription"]],
  },
  Retell: {
    preset: retell({ secret: SECRET }),
    body: { event: "call_ended", call: { call_id: "Jabr9TXYYJHfvl6Syypi88rdAHYHmcq6" } },
    headers: (body) => ({ "X-Retell-Signature": `v=${MILLISECONDS},d=${hmac(body + MILLISECONDS)}` }),
    events: [["Jabr9TXYYJHfvl6Syypi88rdAHYHmcq6.call_ended", "call_ended"]],
  },
  "an event that comes several times in a call of Retell": {
    preset: retell({ secret: SECRET }),
    body: { event: "transcript_updated", call: { call_id: "Jabr9TXYYJHfvl6Syypi88rdAHYHmcq6" } },
    headers: (body) => ({ "X-Retell-Signature": `v=${MILLISECONDS},d=${hmac(body + MILLISECONDS)}` }),
    events: [["", "transcript_updated"]],
  },
  TikTok: {
    preset: tiktok({ secret: SECRET }),
    body: {
      client_key: "bwo2m45353a6k85",
      event: "video.publish.completed",
      create_time: 1_615_338_610,
      user_openid: "act.example",
      content: '{"share_id":"video.6974245311675353080.VDCxrcMJ"}',
    },
    headers: (body) => ({ "TikTok-Signature": `t=${SECONDS},s=${hmac(`${SECONDS}.${body}`)}` }),
    events: [["", "video.publish.completed"]],
  },
  Vercel: {
    preset: vercel({ secret: SECRET }),
    body: { id: "5FQ3bE5aQhZ1", type: "deployment.created", createdAt: 1_752_520_920_123, payload: {} },
    headers: (body) => ({ "x-vercel-signature": hmac(body, "hex", { algorithm: "sha1" }) }),
    events: [["5FQ3bE5aQhZ1", "deployment.created"]],
  },
};

describeDocumented(DOCUMENTED);

function ask(preset: Documented["preset"], query: string) {
  const request = requestOf("", { method: "GET", target: `/api/source/callback?${query}` });
  return openPreset(preset).contract.challenge?.(request);
}

describe("a question to a new address", () => {
  it("LinkedIn's handshake returns its code and the code's HMAC", async () => {
    const challengeCode = "890e4665-4dfe-4ab1-b689-ed553bceeed0";
    expect(await ask(linkedin({ secret: SECRET }), `challengeCode=${challengeCode}`)).toMatchObject({
      status: 200,
      headers: { "content-type": "application/json; charset=utf-8" },
      body: JSON.stringify({ challengeCode, challengeResponse: hmac(challengeCode) }),
    });
  });

  it("X's handshake returns the HMAC of its crc_token", async () => {
    expect(await ask(x({ secret: SECRET }), "crc_token=NGMyYTlm&nonce=1")).toMatchObject({
      status: 200,
      body: JSON.stringify({ response_token: `sha256=${hmac("NGMyYTlm", "base64")}` }),
    });
  });

  it.each([
    ["X", x({ secret: SECRET }), `crc_token=${encodeURIComponent('{"follow_events":[]}')}`],
    ["LinkedIn", linkedin({ secret: SECRET }), `challengeCode=${encodeURIComponent("hmacsha256={}")}`],
    ["LinkedIn, as a prefix", linkedin({ secret: SECRET }), "challengeCode=hmacsha256%3D1"],
  ])("a handshake of %s cannot have an event signed", async (_, preset, query) => {
    expect(await ask(preset, query)).toMatchObject({ kind: "refused", code: "handshake_invalid" });
  });

  it("Nylas's handshake returns the challenge as text", async () => {
    expect(await ask(nylas({ secret: SECRET }), "challenge=bc609b38")).toMatchObject({
      status: 200,
      headers: { "content-type": "text/plain; charset=utf-8" },
      body: "bc609b38",
    });
  });
});

describe("Nylas", () => {
  const preset = nylas({ secret: SECRET });
  const body = JSON.stringify(DOCUMENTED.Nylas?.body);

  it("Nylas signs the compressed bytes, which are inflated once they are verified", async () => {
    const bytes = gzipSync(body);
    const signature = hmac(bytes as never);
    const headers = { "x-nylas-signature": signature, "content-encoding": "gzip" };
    const [event] = await verifiedEvents(preset, requestOf(bytes, { headers }));
    expect(event?.eventId).toBe("mock-id");
    const overPlain = { ...headers, "x-nylas-signature": hmac(body) };
    const { scheme } = openPreset(preset);
    expect(await scheme.verify(requestOf(bytes, { headers: overPlain }))).toMatchObject({
      code: "signature_mismatch",
    });
  });

  it("an error of ours returns 503 to Nylas, which does not retry after 500", () => {
    const { contract } = openPreset(preset);
    expect(contract.respond?.(failed("internal", undefined))).toMatchObject({
      status: 503,
    });
  });
});

describe("Bitbucket Cloud", () => {
  it("one body of Bitbucket Cloud is an event of each type where its bytes are the key", () => {
    const { contract } = openPreset(bitbucket({ secret: SECRET, identity: "bytes" }));
    const [one, other] = ["pullrequest:updated", "pullrequest:fulfilled"].map((type) => {
      const headers = { "X-Request-UUID": "1", "X-Event-Key": type };
      return eventsOf(contract, requestOf({ pullrequest: {} }, { headers }))[0];
    });
    expect(one?.eventId).not.toBe(other?.eventId);
  });
});

describe("a signed time", () => {
  const requestIn = ({ body, headers }: Documented) => {
    const text = JSON.stringify(body);
    return requestOf(text, { headers: headers(text) });
  };

  it.each([
    ["Cloudinary", 7_200],
    ["Retell", 300],
  ])("a signed time of %s may be %i seconds old, as its SDK takes it", async (name, tolerance) => {
    const documented = DOCUMENTED[name] as Documented;
    const verdictAfter = (seconds: number) => {
      const now = new Date(PRESET_NOW.getTime() + seconds * 1_000);
      return openPreset(documented.preset, { now }).scheme.verify(requestIn(documented));
    };
    expect(await verdictAfter(tolerance - 1)).toHaveProperty("verified");
    expect(await verdictAfter(tolerance + 1)).toMatchObject({ code: "timestamp_stale" });
  });

  it.each([
    ["TikTok", 72],
    ["ElevenLabs", 0.75],
  ])("a callback of %s is authentic %d hours after it was signed", async (name, hours) => {
    const documented = DOCUMENTED[name] as Documented;
    const now = new Date(PRESET_NOW.getTime() + hours * 3_600_000);
    const { scheme } = openPreset(documented.preset, { now });
    expect(await scheme.verify(requestIn(documented))).toHaveProperty("verified");
  });
});

describe("Jira's webhooks", () => {
  const read = (body: string, query = "") => {
    const headers = {
      "X-Hub-Signature": `sha256=${hmac(body)}`,
      "X-Atlassian-Webhook-Identifier": "975a1f0e",
    };
    const request = requestOf(body, { headers, target: `/api/jira/callback${query}` });
    return verifiedEvents(jira({ secret: SECRET }), request);
  };

  it("a transition of Jira, which has no webhookEvent, is of the type transition", async () => {
    const body = { transition: { workflowId: 2, transitionName: "Close" }, issue: { key: "ENG-482" } };
    expect((await read(JSON.stringify(body)))[0]?.json).toMatchObject({
      event_type: "transition",
      data: body,
    });
  });

  it("a webhook of Jira that excludes the body has the query as its data", async () => {
    expect((await read("", "?issue=ENG-482"))[0]?.json).toMatchObject({
      event_type: "callback",
      data: { issue: "ENG-482" },
    });
  });
});

describe("GitHub's webhooks", () => {
  it("a webhook of GitHub's default content type has the JSON of its payload", async () => {
    const body = new URLSearchParams({ payload: '{"action":"opened","number":1}' }).toString();
    const headers = {
      "Content-Type": "application/x-www-form-urlencoded",
      "X-Hub-Signature-256": `sha256=${hmac(body)}`,
      "X-GitHub-Delivery": "72d3162e",
      "X-GitHub-Event": "pull_request",
    };
    const [event] = await verifiedEvents(github({ secret: SECRET }), requestOf(body, { headers }));
    expect(event?.json).toMatchObject({ event_type: "pull_request", data: { action: "opened", number: 1 } });
  });
});

describe("TikTok's content", () => {
  it("the content of a TikTok event is an object for handlers", async () => {
    const { preset, body, headers } = DOCUMENTED.TikTok as Documented;
    const text = JSON.stringify(body);
    const [event] = await verifiedEvents(preset, requestOf(text, { headers: headers(text) }));
    expect(event?.json.data).toMatchObject({ content: { share_id: "video.6974245311675353080.VDCxrcMJ" } });
  });
});

describe("DocuSign Connect", () => {
  it("the retries of DocuSign Connect, which count themselves in the body, are one event", async () => {
    const preset = docusign({ secret: SECRET });
    const ids = [0, 1].map(async (retryCount) => {
      const body = JSON.stringify({ ...DOCUMENTED["DocuSign Connect"]?.body, retryCount });
      const request = requestOf(body, { headers: { "X-DocuSign-Signature-1": hmac(body, "base64") } });
      return (await verifiedEvents(preset, request))[0]?.eventId;
    });
    expect(new Set(await Promise.all(ids)).size).toBe(1);
  });
});
