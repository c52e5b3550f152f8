import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { createReceiver, type Receiver } from "../../src/index.ts";
import { requestOf, STRIPE_SECRET, stripeCallback } from "../support/application.ts";
import { type Ended, startOncehook } from "../support/child.ts";
import { runCommandLine } from "../support/command.ts";
import { describeFullOnPostgres, withMigrated } from "../support/databases.ts";
import { withFolder } from "../support/folder.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";
import { until } from "../support/until.ts";

const source = (path: string) => pathToFileURL(resolve("src", path)).href;

/** Its handler works once the application's stock is there. */
const CONFIG = `
import { defineConfig, defineHandler } from "${source("index.ts")}";
import { stripe } from "${source("sources/platforms/index.ts")}";
export const shop = { hasStock: false };
export default defineConfig({
  sources: { billing: stripe({ secret: "${STRIPE_SECRET}" }) },
  handlers: [defineHandler({
    source: "billing", type: "invoice.paid",
    handle() {
      if (!shop.hasStock) throw new Error("no stock");
      return { shipped: true };
    },
  })],
});
`;

const ignore = () => {};
const SILENT = { debug: ignore, info: ignore, warn: ignore, error: ignore };

interface Application {
  readonly receiver: Receiver;
  readonly folder: string;
  readonly shop: { hasStock: boolean };
  readonly run: (...args: string[]) => Promise<Ended>;
  readonly start: (...args: string[]) => ReturnType<typeof startOncehook>;
}

/** An application with a receiver, and its folder as an operator has it before them. */
function withFolderOfApplication(dialect: "sqlite" | "postgres", use: (application: Application) => Promise<void>) {
  return withMigrated(dialect, ({ url }) =>
    withFolder(async (folder) => {
      const file = join(folder, "oncehook.config.ts");
      writeFileSync(file, CONFIG);
      const { default: config, shop } = await import(pathToFileURL(file).href);
      const variables = { DATABASE_URL: url, ENCRYPTION_KEY: CHILD_ENVIRONMENT.ENCRYPTION_KEY, APP_ENV: "test" };
      const receiver = createReceiver(config, { variables, background: "none", logger: SILENT });
      const prefixed = Object.entries(variables).map(([name, value]) => [`ONCEHOOK_${name}`, value]);
      const ofTheApplication = { DATABASE_URL: "mysql://app@db/shop", ENCRYPTION_KEY: "my-app-key", PORT: "none" };
      const env = { PATH: CHILD_ENVIRONMENT.PATH, ...ofTheApplication, ...Object.fromEntries(prefixed) };
      const run = (...args: string[]) => runCommandLine(args, env, folder);
      const start = (...args: string[]) => startOncehook(args, env, folder);
      try {
        await use({ receiver, folder, shop, run, start });
      } finally {
        await receiver.close();
      }
    }),
  );
}

const READS = "oncehook: reads the variables ONCEHOOK_*, as createReceiver does, and no others\n";

describeFullOnPostgres("the command line in the folder of an application, on %s", (dialect) => {
  it("an operator finds a failed event there, tries it, and runs it again with the application's handler", () =>
    withFolderOfApplication(dialect, async ({ receiver, shop, run }) => {
      const callback = stripeCallback();
      expect((await receiver.fetch(requestOf(callback))).status).toBe(500);
      const status = await run("status");
      expect(status.stdout).toMatch(/^database +of the application, test, version \S+; whether it runs is not asked$/m);
      expect(status.stdout).not.toContain("responds");
      expect(JSON.parse((await run("status", "--json")).stdout)).toMatchObject({ read_from: "database" });
      const failures = await run("failures");
      expect(failures).toMatchObject({ code: 0, stderr: READS });
      expect(failures.stdout).toContain(callback.id);
      const again = await run("replay", callback.id);
      expect([again.code, again.stdout]).toEqual([1, expect.stringContaining("no stock")]);
      shop.hasStock = true;
      const dryRun = await run("replay", callback.id, "--dry-run");
      expect(dryRun).toMatchObject({ code: 0, stdout: expect.stringContaining("success") });
      expect(await run("replay", callback.id)).toMatchObject({ code: 0, stderr: READS });
      expect(await (await receiver.fetch(requestOf(callback))).json()).toEqual({ status: "already_processed" });
      const { items } = JSON.parse((await run("events", "--json")).stdout);
      expect(items).toMatchObject([{ source: "billing", event_id: callback.id, result: { shipped: true } }]);
    }));

  it("verify, migrate, doctor and import-seen work on the database of the application's receiver", () =>
    withFolderOfApplication(dialect, async ({ receiver, run }) => {
      await receiver.ready();
      for (const args of [["verify"], ["migrate"], ["doctor"]])
        expect(await run(...args), args.join(" ")).toMatchObject({ code: 0, stderr: READS });
      expect((await run("doctor")).stdout).not.toMatch(/admin access|certificate/);
      const seen = await run("import-seen", "billing", "--file", "ids.txt");
      expect(seen).toMatchObject({ code: 1, stderr: expect.stringContaining("ids.txt") });
    }));
});

describe("the command line in the folder of an application", () => {
  it("oncehook tail says that it looks in the application's database, and shows its callbacks", { tags: "full" }, () =>
    withFolderOfApplication("sqlite", async ({ receiver, start }) => {
      await receiver.fetch(requestOf(stripeCallback()));
      const tail = start("tail");
      try {
        const printed = { stdout: "", stderr: "" };
        for (const name of ["stdout", "stderr"] as const) tail[name]?.on("data", (text) => (printed[name] += text));
        await until(() => printed.stdout.includes("invoice.paid"), 20_000);
        expect(printed.stderr).toContain(
          "oncehook: looks twice a second for new callbacks in the application's database",
        );
      } finally {
        tail.kill("SIGKILL");
      }
    }),
  );

  it("a folder without oncehook.config.ts is reported as such, and no secret of the built-in protocol is asked for", () =>
    withFolder(async (folder) => {
      const ENCRYPTION_KEY = CHILD_ENVIRONMENT.ENCRYPTION_KEY;
      writeFileSync(
        join(folder, ".env"),
        `ONCEHOOK_DATABASE_URL=sqlite:a.db\nONCEHOOK_ENCRYPTION_KEY=${ENCRYPTION_KEY}\n`,
      );
      const send = ["send", "--source", "stripe", "invoice.paid", "--env", ".env"];
      const { code, stderr } = await runCommandLine(send, { PATH: CHILD_ENVIRONMENT.PATH }, folder);
      expect([code, stderr]).toEqual([1, expect.stringContaining("  there is no oncehook.config.ts in this folder: ")]);
      expect(stderr).not.toContain("SIGNING_SECRET");
    }));

  it("a missing variable is named with its prefix", () =>
    withFolder(async (folder) => {
      writeFileSync(join(folder, "oncehook.config.ts"), CONFIG);
      const { code, stderr } = await runCommandLine(["doctor"], { ONCEHOOK_DATABASE_URL: "sqlite:a.db" }, folder);
      expect([code, stderr]).toEqual([1, expect.stringContaining("ONCEHOOK_ENCRYPTION_KEY: is not set")]);
    }));
});
