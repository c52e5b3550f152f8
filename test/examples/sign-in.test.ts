import { expect, it } from "vitest";
import { withDatabase } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { freePort } from "../support/free-port.ts";
import { flowEnv } from "../support/oauth-flow.ts";
import { withOidcPlatform } from "../support/oidc-platform.ts";
import { startServer } from "../support/process.ts";
import { event } from "../support/receiver.ts";
import { UserAgent } from "../support/user-agent.ts";

it("signs a user in and asks the platform for the name with the user's own token", async () => {
  const port = await freePort();
  const redirectUri = `http://localhost:${port}/api/platform/oauth-callback`;
  await withOidcPlatform({ redirectUris: [redirectUri] }, (platform) =>
    withDatabase("sqlite", async (target) => {
      const env = {
        ...flowEnv(port, platform.issuer),
        OAUTH_SCOPE: "openid profile",
        USERINFO_URL: `${platform.issuer}/me`,
      };
      const server = await startServer(target, env, "examples/sign-in");
      const wanted = () => server.send(event("profile_wanted", { user_id: "ada" }));
      expect(await wanted()).toMatchObject({ status: 400 });
      const agent = new UserAgent();
      const back = await agent.authorize(`http://localhost:${port}/api/platform/oauth-start`, redirectUri);
      expect((await agent.request(back)).status).toBe(303);
      expect(await wanted()).toEqual({
        status: 200,
        body: { status: "success", data: { user_id: "ada", name: "Ada" } },
      });
      expect(await rowsOf(target, "SELECT * FROM profiles")).toEqual([{ user_id: "ada", name: "Ada" }]);
      server.child.kill("SIGTERM");
      expect(await server.ended).toBe(0);
    }),
  );
});
