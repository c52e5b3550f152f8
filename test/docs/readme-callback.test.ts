import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCommandLine } from "../support/command.ts";
import { withDatabase } from "../support/databases.ts";
import { countOf } from "../support/effects.ts";
import { startServer } from "../support/process.ts";
import { SECRET } from "../support/receiver.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";
import { shellBlocks } from "../support/shell.ts";

const MAIN = join(process.cwd(), "src/cli/main.js");
const SIGN = `${process.execPath} --conditions=oncehook-source ${MAIN} sign`;

function inShell(script: string, cwd: string): Promise<string> {
  const env = {
    ...CHILD_ENVIRONMENT,
  };
  return new Promise((resolve) => {
    execFile("sh", ["-c", script], { cwd, env }, (_error, stdout, stderr) => resolve(stdout + stderr));
  });
}

it(
  "the receiver accepts the callback that docs/development.md sends by hand, and signs as openssl does",
  { tags: "full" },
  () =>
    withDatabase("sqlite", async (target) => {
      const [recipe = []] = shellBlocks(await readFile("docs/development.md", "utf8")).filter(([first]) =>
        first?.startsWith("echo "),
      );
      const folder = await mkdtemp(join(tmpdir(), "oncehook-readme-"));
      const server = await startServer(target);
      try {
        const script = recipe.join("\n").replace("http://127.0.0.1:8080", server.url);
        expect(script).toContain("npm run -s oncehook -- sign");
        expect(await inShell(script.replace("npm run -s oncehook -- sign", SIGN), folder)).toBe(
          '{"status":"success","data":{"order_id":"o1"}}',
        );
        const digest = await inShell(`openssl dgst -sha256 -hmac '${SECRET}' -hex body.json`, folder);
        expect(digest.trim().split("= ").at(-1)).toBe((await inShell(`${SIGN} body.json`, folder)).trim());
      } finally {
        server.child.kill("SIGTERM");
        await server.ended;
        await rm(folder, { recursive: true, force: true });
      }
    }),
);

it("the README's SOURCES and secret are all that a first callback of Stripe needs", { tags: "full" }, () =>
  withDatabase("sqlite", async (target) => {
    const [[demo = "", variables = "", start, send = ""] = []] = shellBlocks(
      await readFile("README.md", "utf8"),
    ).filter(([first]) => first?.startsWith("npm ci "));
    expect(demo).toContain("npm ci && npm run demo ");
    const [, ...pairs] = variables.replace(/#.*/, "").trim().split(" ");
    const env = Object.fromEntries(pairs.map((pair) => pair.split("=")));
    expect([start?.split(" #")[0]?.trim(), Object.keys(env)]).toEqual(["npm start", ["SOURCES", "STRIPE_SECRET"]]);
    const server = await startServer(target, env);
    try {
      const [, command = ""] = /^npm run oncehook -- ([^#]*)/.exec(send) ?? [];
      const given = { ...CHILD_ENVIRONMENT, ...env, CALLBACK_BASE_URL: server.url };
      const { stdout } = await runCommandLine(command.trim().split(" "), given);
      expect(stdout).toMatch(/200\n.*"status": ?"success"/s);
      expect(await countOf(target, "events")).toBe(1);
    } finally {
      server.child.kill("SIGTERM");
      await server.ended;
    }
  }),
);
