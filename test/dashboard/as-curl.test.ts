import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { asCurl, curlUnavailableReason } from "../../dashboard/src/panel/as-curl.ts";
import type { CallbackView, SourcesView } from "../../src/admin-client/index.ts";
import { github, shopify, slack, stripe } from "../../src/sources/platforms/index.ts";
import { runCommandLine } from "../support/command.ts";
import { rawExchange } from "../support/raw-exchange.ts";
import { payment, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { CHILD_ENVIRONMENT, SECRET } from "../support/secrets.ts";

const run = promisify(execFile);
const SECRETS = {
  stripe: stripe({ secret: "whsec_vJ8qLx2RkT0bNfYd7WmC" }),
  github: github({ secret: "vJ8qLx2RkT0bNfYd7WmC" }),
  shopify: shopify({ secret: "vJ8qLx2RkT0bNfYd7WmC" }),
  slack: slack({ secret: "vJ8qLx2RkT0bNfYd7WmC" }),
};
const LIMIT_MS = 60_000;
const CALLBACK_TOKEN = "a-token-of-some-length";

/** Lends a folder in which `oncehook` is the project's own command. */
async function withCommand<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "oncehook-curl-"));
  try {
    const bin = join(folder, "node_modules/.bin");
    mkdirSync(bin, { recursive: true });
    const command = join(bin, "oncehook");
    const main = join(process.cwd(), "src/cli/main.js");
    writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' --conditions=oncehook-source '${main}' "$@"\n`);
    chmodSync(command, 0o755);
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The newest callback as the page has it: the list has no bodies. */
async function newestOf(receiver: TestReceiver): Promise<CallbackView> {
  const { body } = await receiver.admin("/api/v1/callbacks?limit=1");
  const [{ id }] = (body as unknown as { items: [CallbackView] }).items;
  return (await receiver.admin(`/api/v1/callbacks/${id}`)).body as unknown as CallbackView;
}

it(
  "a callback is copied as a command that signs and sends it again, without a secret",
  { tags: "full", timeout: LIMIT_MS },
  () =>
    withReceiver("sqlite", async (receiver) => {
      // What a shell would take for its own.
      await receiver.send(payment({ event_id: 'it\'s $(me) `and` \\ "you"' }));
      const command = asCurl(await newestOf(receiver), receiver.publicOrigin);
      expect(command).not.toContain(SECRET);
      expect(command).not.toMatch(/[0-9a-f]{64}/);
      const { stdout } = await withCommand((cwd) =>
        run("sh", ["-c", command], { cwd, env: { PATH: process.env.PATH, SIGNING_SECRET: SECRET } }),
      );
      expect(JSON.parse(stdout)).toEqual({ status: "already_processed" });
      const sent = await newestOf(receiver);
      // Without a secret there is no signature, and nothing may be sent.
      const unsigned = withCommand((cwd) =>
        run("sh", ["-c", command], { cwd, env: { PATH: process.env.PATH, APP_ENV: "production" } }),
      );
      await expect(unsigned).rejects.toThrow("oncehook: ");
      expect((await newestOf(receiver)).id).toBe(sent.id);
    }),
);

const SOURCES = {
  STRIPE_SECRET: "whsec_vJ8qLx2RkT0bNfYd7WmC",
  GITHUB_SECRET: "vJ8qLx2RkT0bNfYd7WmC",
  SHOPIFY_SECRET: "vJ8qLx2RkT0bNfYd7WmC",
  SLACK_SECRET: "vJ8qLx2RkT0bNfYd7WmC",
};

it.each([
  ["stripe", "invoice.paid"],
  ["github", "push"],
  ["shopify", "orders/create"],
  ["slack", "app_mention"],
])(
  "a callback of %s is copied as a command whose signature the receiver takes",
  { tags: "full", timeout: LIMIT_MS },
  (source, type) =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const env = { ...CHILD_ENVIRONMENT, ...SOURCES, SOURCES: Object.keys(SECRETS).join() };
        const send = ["send", "--source", source, type, "--url", receiver.publicOrigin];
        expect(await runCommandLine(send, env)).toMatchObject({ code: 0, stderr: "" });
        const callback = await newestOf(receiver);
        const sources = (await receiver.admin("/api/v1/sources")).body as unknown as SourcesView;
        expect(curlUnavailableReason(callback, sources.items)).toBeUndefined();
        const command = asCurl(callback, receiver.publicOrigin);
        expect(command).not.toContain("vJ8qLx2RkT0bNfYd7WmC");
        const { stdout } = await withCommand((folder) =>
          run("sh", ["-c", `${command} -s -o /dev/null -w '%{http_code}'`], {
            cwd: folder,
            env: { ...env, PATH: process.env.PATH },
          }),
        );
        expect(stdout).toBe("200");
      },
      { sources: SECRETS },
    ),
);

it("the page states why a callback cannot be copied: a redirect, a body that is not kept, no request", () =>
  withReceiver("sqlite", async (receiver) => {
    const newest = async () => {
      const sources = (await receiver.admin("/api/v1/sources")).body as unknown as SourcesView;
      return curlUnavailableReason(await newestOf(receiver), sources.items);
    };
    await receiver.send(payment({}, { order_id: "o".repeat(70_000) }));
    expect(await newest()).toContain("the length and the hash");
    await receiver.send({}, { raw: "no json at all" });
    expect(await newest()).toContain("the length and the hash");
    await fetch(`${receiver.publicOrigin}/api/platform/oauth-callback?code=a&state=b`);
    expect(await newest()).toContain("works once");
    await fetch(`${receiver.publicOrigin}/api/platform/callback`);
    expect(await newest()).toContain("before its body was taken");
    await rawExchange(receiver.publicOrigin, "NOT HTTP\r\n\r\n");
    expect(await newest()).toContain("no HTTP request");
    await receiver.send(payment());
    expect(await newest()).toBeUndefined();
  }));

it("the page states that a command line which signs is useless where a token authenticates", () =>
  withReceiver(
    "sqlite",
    async (receiver) => {
      await receiver.send(payment(), { headers: { authorization: `Bearer ${CALLBACK_TOKEN}` } });
      const sources = (await receiver.admin("/api/v1/sources")).body as unknown as SourcesView;
      expect(curlUnavailableReason(await newestOf(receiver), sources.items)).toContain("authenticated by token");
    },
    { env: { AUTH_METHOD: "token", CALLBACK_TOKEN } },
  ));
