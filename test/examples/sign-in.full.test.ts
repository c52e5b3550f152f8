import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { withDatabase } from "../support/databases.ts";
import { rowsOf } from "../support/effects.ts";
import { freePort } from "../support/free-port.ts";
import { flowEnv } from "../support/oauth-flow.ts";
import { withOidcPlatform } from "../support/oidc-platform.ts";
import { startServer } from "../support/process.ts";
import { event } from "../support/receiver.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";
import { runCommand, shellBlocks } from "../support/shell.ts";
import { UserAgent } from "../support/user-agent.ts";

it("the sign-in example signs a user in and asks the platform for the name with the user's own token", async () => {
  const port = await freePort();
  const redirectUri = `http://localhost:${port}/api/platform/oauth-callback`;
  await withOidcPlatform({ redirectUris: [redirectUri] }, (platform) =>
    withDatabase("sqlite", async (target) => {
      const env = {
        ...flowEnv(port, platform.issuer),
        HANDLERS: "user_authorized",
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

const README = readFileSync("examples/sign-in/README.md", "utf8");

/** The variables that a block of the README exports, with ports of the test's own. */
function exported(block: readonly string[], ports: Record<string, number>): Record<string, string> {
  const pairs = block
    .filter((line) => line.startsWith("export "))
    .flatMap((line) => line.slice("export ".length).split(" "))
    .map((pair): [string, string] => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]);
  const moved = pairs.map(([name, value]): [string, string] => [
    name,
    value.replace(/:(\d+)$/, (text, port: string) => `:${ports[port] ?? text.slice(1)}`),
  ]);
  return Object.fromEntries(moved);
}

it("the sign-in example runs without a platform, as its README says, command for command", () =>
  withDatabase("sqlite", async (target) => {
    const [start = [], ask = []] = shellBlocks(README);
    const [port, people] = [await freePort(), await freePort()];
    const stands = spawn(process.execPath, ["examples/sign-in/people.mjs"], {
      env: { PEOPLE_PORT: String(people) },
    });
    try {
      const given = exported(start, { 8080: port, 8090: people });
      expect(given.DATABASE_URL).toBe("sqlite:./data/sign-in.db");
      const env = { ...given, PORT: String(port), DATABASE_URL: target.url };
      const server = await startServer(target, env, "examples/sign-in");
      const base = `http://localhost:${port}/api/platform`;
      const agent = new UserAgent();
      const back = await agent.authorize(`${base}/oauth-start`, `${base}/oauth-callback`);
      expect((await agent.request(back)).status).toBe(303);
      const shell = {
        ...CHILD_ENVIRONMENT,
        ADMIN_PORT: new URL(server.adminUrl).port,
      };
      const answers = [];
      for (const command of ask) answers.push(await runCommand(command.replace(":8080", `:${port}`), shell));
      expect(answers[0]).toContain('{"user_id":"sandbox-user"}');
      expect(answers[1]).toContain('{"status":"success","data":{"user_id":"sandbox-user","name":"Ada"}}');
      server.child.kill("SIGTERM");
      expect(await server.ended).toBe(0);
    } finally {
      stands.kill();
    }
  }));

it("the sign-in example does not start without the address of the user information", () =>
  withDatabase("sqlite", async (target) => {
    await expect(startServer(target, {}, "examples/sign-in")).rejects.toThrow(
      'USERINFO_URL: got "", expected the platform\'s user information address',
    );
  }));
