import { SignJWT } from "jose";
import { monday } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";

const seconds = (time: Date) => Math.floor(time.getTime() / 1000);

export const mondayProof: PlatformProof = {
  preset: "monday",
  by: "jose, with the claims of developer.monday.com/apps/docs/integration-authorization",
  secrets: ["11111111111111111111111111111111", "22222222222222222222222222222222", "33333333333333333333333333333333"],
  source: (secret) => monday({ secret }),
  async callback({ secret, id, now, url }) {
    const iat = seconds(now);
    const claims = {
      accountId: 1825528,
      userId: 4012689,
      aud: url,
      exp: iat + 300,
      iat,
      shortLivedToken: "t",
    };
    const authorization = await new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(Buffer.from(secret));
    const event = {
      type: "create_pulse",
      boardId: 1,
      pulseId: 2,
      triggerTime: now.toISOString(),
      triggerUuid: id,
    };
    return {
      headers: { authorization, "content-type": "application/json" },
      body: Buffer.from(JSON.stringify({ event })),
    };
  },
  toleranceSeconds: 310,
  signsBody: false,
  handshakes: [
    {
      title: "challenge",
      request: () => ({ headers: {}, body: Buffer.from('{"challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmd"}') }),
      response: { status: 200, body: '{"challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmd"}' },
    },
  ],
};
