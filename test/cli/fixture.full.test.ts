import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defineHandler } from "../../src/index.ts";
import { github, stripe } from "../../src/sources/platforms/index.ts";
import type { Ended } from "../support/child.ts";
import { runCommandLine } from "../support/command.ts";
import { runNode } from "../support/in-project.ts";
import { withReceiver } from "../support/receiver.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";

const CONFIG = `
import { defineConfig, defineHandler } from "oncehook";
import { github, stripe } from "oncehook/sources";

const handler = (source: string | undefined, type: string) =>
  defineHandler({
    source,
    type,
    handle({ event }) {
      if (process.env.MENDED !== "yes" && JSON.stringify(event.data).includes("broken")) throw new Error("no such unit");
      return { seen: event.event_id };
    },
  });

export default defineConfig({
  sources: {
    stripe: stripe({ secret: process.env.STRIPE_SECRET }),
    github: github({ secret: process.env.GITHUB_SECRET, answer: "after" }),
  },
  handlers: [handler("stripe", "invoice.paid"), handler("github", "push"), handler(undefined, "parcel_shipped")],
});
`;
const TESTS = join(import.meta.dirname, "..");
const SECRETS = { STRIPE_SECRET: "whsec_vJ8qLx2RkT0bNfYd7WmC", GITHUB_SECRET: "vJ8qLx2RkT0bNfYd7WmC" };

/** For the sources whose callbacks a test does not send; that one has a secret of its own. */
const TEST_ENV = "STRIPE_SECRET=whsec_of-the-tests-alone\nGITHUB_SECRET=of-the-tests-alone\n";

interface Project {
  readonly folder: string;
  /** Of the receiver. */
  readonly origin: string;
  readonly command: (...args: string[]) => Promise<Ended>;
}

const HANDLED = [
  { source: "stripe", type: "invoice.paid" },
  { source: "github", type: "push" },
  { type: "parcel_shipped" },
].map((of) => defineHandler({ ...of, handle: handleEvent }));

function handleEvent({ event }: { readonly event: { readonly event_id: string; readonly data: unknown } }) {
  if (JSON.stringify(event.data).includes("broken")) throw new Error("no such unit");
  return { seen: event.event_id };
}

/** A receiver, and the command in the folder of its project. */
async function inProject(use: (project: Project) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(TESTS, "oncehook-fixture-"));
  try {
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(join(TESTS, ".."), join(folder, "node_modules", "oncehook"));
    writeFileSync(join(folder, "oncehook.config.ts"), CONFIG);
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    writeFileSync(join(folder, ".env.test"), TEST_ENV);
    const sources = {
      stripe: stripe({ secret: SECRETS.STRIPE_SECRET }),
      github: github({ secret: SECRETS.GITHUB_SECRET, answer: "after" }),
    };
    await withReceiver(
      "sqlite",
      async ({ publicOrigin, adminOrigin }) => {
        const ports = { ADMIN_PORT: new URL(adminOrigin).port, CALLBACK_BASE_URL: publicOrigin };
        const env = { ...CHILD_ENVIRONMENT, ...SECRETS, ...ports };
        await use({ folder, origin: publicOrigin, command: (...args) => runCommandLine(args, env, folder) });
      },
      { sources, handlers: HANDLED },
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const runTest = (folder: string, file: string, ...args: string[]) =>
  runNode(["--env-file-if-exists=.env.test", ...args, "--test", file], folder);

describe("oncehook fixture", { timeout: 120_000 }, () => {
  it("fixture turns a callback into a test that passes, and writes the same again", () =>
    inProject(async ({ folder, command }) => {
      expect((await command("send", "--source", "stripe", "invoice.paid", "--id", "evt_1")).code).toBe(0);
      const first = await command("fixture", "evt_1");
      expect([first.code, first.stderr]).toEqual([0, ""]);
      expect(first.stdout).toContain("test/stripe-invoice.paid-evt_1.test.ts: written.");
      const body = readFileSync(join(folder, "test/fixtures/stripe-invoice.paid-evt_1.json"), "utf8");
      expect(JSON.parse(body)).toMatchObject({ id: "evt_1", type: "invoice.paid" });
      expect(await runTest(folder, "test/stripe-invoice.paid-evt_1.test.ts")).toMatchObject({ code: 0 });
      const again = await command("fixture", "evt_1", "--source", "stripe");
      expect(again.stdout).toContain("is there already, with the same text.");
      writeFileSync(join(folder, "test/fixtures/stripe-invoice.paid-evt_1.json"), "{}");
      const refused = await command("fixture", "evt_1");
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("is left as it is")]);
    }));

  it("the test of a callback whose handler failed fails, and passes once the handler is mended", () =>
    inProject(async ({ folder, command }) => {
      const data = '{"data":{"object":{"id":"in_1","note":"broken","pin":1234}}}';
      await command("send", "--source", "stripe", "invoice.paid", "--id", "evt_2", "--data", data);
      expect((await command("fixture", "evt_2")).code).toBe(0);
      const file = "test/stripe-invoice.paid-evt_2.test.ts";
      expect(readFileSync(join(folder, file), "utf8")).toContain('The body has "[masked]" there');
      const failed = await runTest(folder, file);
      expect(failed).toMatchObject({ code: 1, output: expect.stringContaining("no such unit") });
      writeFileSync(join(folder, ".env.test"), `${TEST_ENV}MENDED=yes\n`);
      expect(await runTest(folder, file)).toMatchObject({ code: 0 });
    }));

  it.each([
    ["github", ["--source", "github", "push", "--id", "d-1"], "d-1", "github-push-d-1"],
    ["platform", ["parcel_shipped", "--id", "evt_3", "--data", '{"a":1}'], "evt_3", "platform-parcel_shipped-evt_3"],
  ])("the test of an event of %s passes, also where the event is only accepted at first", (_, sent, id, name) =>
    inProject(async ({ folder, command }) => {
      expect((await command("send", ...sent)).code).toBe(0);
      expect((await command("fixture", id)).stderr).toBe("");
      expect(await runTest(folder, `test/${name}.test.ts`)).toMatchObject({ code: 0 });
    }),
  );

  it("fixture of an erased event says that its payload was erased, and writes nothing", () =>
    inProject(async ({ folder, command }) => {
      const data = '{"data":{"object":{"id":"in_9","customer":"cus_erased"}}}';
      await command("send", "--source", "stripe", "invoice.paid", "--id", "evt_9", "--data", data);
      expect((await command("erase", "--where", "customer=cus_erased")).code).toBe(0);
      const { code, stderr } = await command("fixture", "evt_9");
      expect([code, stderr]).toEqual([1, "oncehook: no test can be made of evt_9: its payload was erased\n"]);
      expect(existsSync(join(folder, "test"))).toBe(false);
    }));

  it("fixture of a form whose JSON holds a secret says that the log has it masked, and writes nothing", () =>
    inProject(async ({ command, origin }) => {
      const body = Buffer.from(new URLSearchParams({ payload: '{"ref":"main","password":"hunter2"}' }).toString());
      const headers = {
        "Content-Type": "application/x-www-form-urlencoded",
        "X-GitHub-Event": "push",
        "X-GitHub-Delivery": "d-2",
        ...github({ secret: SECRETS.GITHUB_SECRET }).sign?.({ body, now: new Date() }),
      };
      expect((await fetch(`${origin}/api/github/callback`, { method: "POST", body, headers })).ok).toBe(true);
      const { code, stderr } = await command("fixture", "d-2");
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining("a field with JSON that holds a secret is [masked] as a whole"),
      ]);
    }));

  it("fixture of an event that the log does not have says so, and writes nothing", () =>
    inProject(async ({ command }) => {
      const { code, stderr } = await command("fixture", "evt_none");
      expect([code, stderr]).toEqual([1, expect.stringContaining("no event has the id evt_none")]);
    }));
});
