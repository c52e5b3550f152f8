import { describe, expect, it } from "vitest";
import { withHttpServer } from "../support/http-server.ts";
import { withFlow } from "../support/oauth-flow.ts";
import { event, withReceiver } from "../support/receiver.ts";

const OWN_ID = /^usr_[0-9a-f]{32}$/;

describe("a plain OAuth 2 platform", () => {
  it("tokens are stored under an id of our own, which the response names, where nothing names the user", () =>
    withFlow(
      "sqlite",
      async ({ arrive, receiver, platform }) => {
        const { agent, back } = await arrive();
        const first = (await (await agent.request(back, { headers: { accept: "application/json" } })).json()) as {
          data: { user_id: string };
        };
        expect(first).toEqual({ status: "success", data: { user_id: expect.stringMatching(OWN_ID) } });
        const again = await agent.request(back, { headers: { accept: "application/json" } });
        expect(await again.json()).toEqual(first);
        const { user_id } = first.data;
        expect(await receiver.count("oncehook_user_tokens", `user_id = '${user_id}'`)).toBe(1);
        expect(await receiver.count("users")).toBe(1);
        expect(platform.grants).toMatchObject({ authorization_code: 1, refused: 0 });
      },
      { env: { OAUTH_SCOPE: "profile" } },
    ));

  it("the receiver asks OAUTH_USERINFO_URL for the user of the tokens, also when the platform sends the code", () =>
    withHttpServer(
      (request, response) => {
        response.setHeader("content-type", "text/plain");
        if (request.url === "/token") response.end('{"access_token":"a"}');
        else response.end(`{"user":{"id":${request.headers.authorization === "Bearer a" ? 583231 : 0}}}`);
      },
      (origin) =>
        withReceiver(
          "sqlite",
          async (receiver) => {
            const { status, body } = await receiver.send(event("user_authorized", { code: "c1" }));
            expect([status, body.data]).toEqual([200, { user_id: "583231" }]);
            const named = await receiver.send(event("user_authorized", { code: "c2", user_id: "ada" }));
            expect(named.body.data).toEqual({ user_id: "ada" });
          },
          {
            env: {
              OAUTH_TOKEN_URL: `${origin}/token`,
              OAUTH_CLIENT_ID: "us",
              OAUTH_CLIENT_SECRET: "the-secret-of-ours",
              OAUTH_USERINFO_URL: `${origin}/user`,
              OAUTH_USERINFO_ID: "user.id",
            },
          },
        ),
    ));
});
