import { verifySlackRequest } from "@slack/bolt";
import { slack } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";
import { signedByPreset } from "../signed-by-preset.ts";

const CHALLENGE = { token: "unused", challenge: "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P" };

export const slackProof: PlatformProof = {
  preset: "slack",
  by: "@slack/bolt, verifySlackRequest; the example of Slack's documentation",
  secrets: ["8f742231b10e8888abcd99yyyzzz85a5", "91c0e4d1c2b54c0f8cf0d2a1e7b3c4d5", "0a1b2c3d4e5f60718293a4b5c6d7e8f9"],
  source: (secrets) => slack({ secret: secrets }),
  callback: (event) =>
    signedByPreset(slack({ secret: event.secret }), event, {
      body: JSON.stringify({
        type: "event_callback",
        team_id: "T123ABC456",
        event: { type: "app_mention", user: "U061F7AUR", text: "grüße" },
        event_id: event.id,
        event_time: Math.floor(event.now.getTime() / 1000),
      }),
    }),
  accepts({ headers, body }, { secret, now }) {
    try {
      verifySlackRequest({
        signingSecret: secret,
        body: Buffer.from(body).toString(),
        headers: {
          "x-slack-signature": headers["x-slack-signature"] ?? "",
          "x-slack-request-timestamp": Number(headers["x-slack-request-timestamp"]),
        },
        nowMilliseconds: now.getTime(),
      });
      return true;
    } catch {
      return false;
    }
  },
  vector: () => ({
    // Slack, "Verifying requests from Slack", step by step: a slash command.
    secret: "8f742231b10e8888abcd99yyyzzz85a5",
    now: new Date(1_531_420_618_000),
    request: {
      headers: {
        "x-slack-request-timestamp": "1531420618",
        "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
        "content-type": "application/x-www-form-urlencoded",
      },
      body: Buffer.from(
        "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V" +
          "&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=" +
          "&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN" +
          "&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
      ),
    },
  }),
  toleranceSeconds: 300,
  handshakes: [
    {
      title: "is the address yours (url_verification)",
      request: (event) =>
        signedByPreset(slack({ secret: event.secret }), event, {
          body: JSON.stringify({ ...CHALLENGE, type: "url_verification" }),
        }),
      response: { status: 200, body: JSON.stringify({ challenge: CHALLENGE.challenge }) },
    },
    {
      title: "is the certificate in order (ssl_check)",
      request: (event) =>
        signedByPreset(slack({ secret: event.secret }), event, {
          headers: { "content-type": "application/x-www-form-urlencoded" },
          body: "ssl_check=1&token=unused",
        }),
      response: { status: 200 },
    },
  ],
};
