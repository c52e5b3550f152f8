import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { twitch } from "../../../src/sources/platforms/index.ts";
import { requestOf } from "../../support/contract.ts";
import { openSource, readSource, verifySource } from "../../support/source.ts";

const SECRET = "5f1a6e7cd2e7137ccf9e15b2f43fe63949eb84b1db83c1d5a867dc93429de4e4";
const ID = "e76c6bd4-55c9-4987-8304-da1588d8988b";
const TIME = "2019-11-16T10:11:12.634234626Z";
const SUBSCRIPTION = { id: "f1c2a387-161a", status: "enabled", type: "channel.follow", version: "1" };

/** As https://dev.twitch.tv/docs/eventsub/handling-webhook-events has it. */
function message(body: object, type = "notification") {
  const text = JSON.stringify(body);
  const digest = createHmac("sha256", SECRET)
    .update(ID + TIME + text)
    .digest("hex");
  const headers = {
    "Twitch-Eventsub-Message-Id": ID,
    "Twitch-Eventsub-Message-Timestamp": TIME,
    "Twitch-Eventsub-Message-Type": type,
    "Twitch-Eventsub-Message-Signature": `sha256=${digest}`,
    "Twitch-Eventsub-Subscription-Type": "channel.follow",
  };
  return { headers, body: text };
}

const source = twitch({ secret: SECRET });
const NOTIFICATION = message({ subscription: SUBSCRIPTION, event: { user_id: "1337" } });
const CHALLENGE = message(
  { challenge: "pogchamp-kappa-360noscope-vohiyo", subscription: SUBSCRIPTION },
  "webhook_callback_verification",
);

describe("the preset twitch", () => {
  it("the preset twitch accepts a signature over id, timestamp and body, and no other", async () => {
    expect(await verifySource(source, NOTIFICATION)).toHaveProperty("verified");
    for (const name of ["Twitch-Eventsub-Message-Id", "Twitch-Eventsub-Message-Timestamp"]) {
      const headers = { ...NOTIFICATION.headers, [name]: "2020-11-16T10:11:12Z" };
      expect(await verifySource(source, { ...NOTIFICATION, headers })).toMatchObject({
        code: "signature_mismatch",
      });
    }
  });

  it("the preset twitch accepts a message that another library has recorded", async () => {
    // The tests of twitch_api (MIT): src/eventsub/mod.rs, verify_request.
    const body =
      '{"subscription":{"id":"ae2ff348-e102-16be-a3eb-6830c1bf38d2","status":"enabled","type":"channel.follow","version":"1","condition":{"broadcaster_user_id":"44429626"},"transport":{"method":"webhook","callback":"null"},"created_at":"2021-02-19T23:47:00.7621315Z"},"event":{"user_id":"28408015","user_login":"testFromUser","user_name":"testFromUser","broadcaster_user_id":"44429626","broadcaster_user_login":"44429626","broadcaster_user_name":"testBroadcaster"}}';
    const headers = {
      "Twitch-Eventsub-Message-Id": "ae2ff348-e102-16be-a3eb-6830c1bf38d2",
      "Twitch-Eventsub-Message-Signature": "sha256=d10f5bd9474b7ac7bd7105eb79c2d52768b4d0cd2a135982c3bf5a1d59a78823",
      "Twitch-Eventsub-Message-Timestamp": "2021-02-19T23:47:00.8091512Z",
    };
    expect(await verifySource(twitch({ secret: "secretabcd" }), { headers, body })).toHaveProperty("verified");
  });

  it("the preset twitch reads id, type and the event's own time", () => {
    expect(readSource(source, NOTIFICATION)).toMatchObject([
      {
        event_id: ID,
        event_type: "channel.follow",
        timestamp: 1_573_899_072,
        data: { event: { user_id: "1337" } },
      },
    ]);
  });

  it("the preset twitch answers a challenge with its bare text, once it is verified", async () => {
    const { scheme, contract } = openSource(source);
    const request = requestOf(CHALLENGE.body, { headers: CHALLENGE.headers });
    expect(contract.challenge).toBeUndefined();
    expect(await scheme.verify(request)).toHaveProperty("verified");
    const read = contract.read(request);
    expect(read.kind === "handshake" && (await read.respond())).toMatchObject({
      status: 200,
      headers: { "content-type": "text/plain; charset=utf-8" },
      body: "pogchamp-kappa-360noscope-vohiyo",
    });
  });

  it("an event under the unsigned type of a challenge stays an event", () => {
    const headers = {
      ...NOTIFICATION.headers,
      "Twitch-Eventsub-Message-Type": "webhook_callback_verification",
    };
    expect(readSource(source, { ...NOTIFICATION, headers })).toMatchObject([{ event_type: "channel.follow" }]);
  });

  it("a revoked subscription is an event of its own type", () => {
    const subscription = { ...SUBSCRIPTION, status: "authorization_revoked" };
    expect(readSource(source, message({ subscription }, "revocation"))).toMatchObject([
      { event_type: "revocation", data: { subscription } },
    ]);
  });

  it("a body without a subscription is refused", () => {
    const { contract } = openSource(source);
    const { headers, body } = message({ event: {} });
    expect(contract.read(requestOf(body, { headers }))).toMatchObject({ code: "event_type_missing" });
  });
});
