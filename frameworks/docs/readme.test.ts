import { randomBytes } from "node:crypto";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defineConfig } from "../../src/index.ts";
import { stripe } from "../../src/sources/platforms/index.ts";
import { signedCallback } from "../../src/testing/index.ts";
import { ended, startChild } from "../../test/support/child.ts";
import { DIALECTS, withDatabase } from "../../test/support/databases.ts";
import { namedBlocks, withFiles } from "../../test/support/doc-blocks.ts";
import { rowsOf } from "../../test/support/effects.ts";
import { freePort } from "../../test/support/free-port.ts";
import { listening } from "../../test/support/listening.ts";

const STRIPE_SECRET = "whsec_of-the-readme";
const example = namedBlocks("README.md").get("express") ?? "";

it("the README's Express example has at most 25 lines", () => {
  expect(example.trimEnd().split("\n").length).toBeLessThanOrEqual(25);
});

describe.each(DIALECTS)("the README's Express example on %s", (dialect) => {
  it("the README's Express example handles a callback of Stripe once, with its own table, and refuses a forged one", () =>
    withDatabase(dialect, async (target) => {
      const port = await freePort();
      const files = [["app.ts", example.replace("(3000)", `(${port})`)]] as const;
      await withFiles(
        files,
        async (folder) => {
          // As installed: frameworks/ has its own name.
          mkdirSync(join(folder, "node_modules"));
          symlinkSync(process.cwd(), join(folder, "node_modules", "oncehook"));
          const child = startChild(join(folder, "app.ts"), [], {
            PATH: process.env.PATH,
            STRIPE_SECRET,
            ONCEHOOK_DATABASE_URL: target.url,
            ONCEHOOK_ENCRYPTION_KEY: randomBytes(32).toString("base64"),
          });
          const end = ended(child);
          const config = defineConfig({ sources: { stripe: stripe({ secret: STRIPE_SECRET }) } });
          const data = { data: { object: { id: "in_1" } } };
          const event = { source: "stripe", type: "invoice.paid", data };
          const origin = `http://127.0.0.1:${port}`;
          await listening(origin);
          const callback = signedCallback(config, event);
          const send = async () => (await fetch(origin + callback.path, callback)).json();
          expect(await send()).toEqual({ status: "success", data: { invoice: "in_1" } });
          expect(await send()).toEqual({ status: "already_processed" });
          const forged = signedCallback(config, event, { isForged: true });
          expect((await fetch(origin + forged.path, forged)).status).toBe(401);
          expect(await rowsOf(target, "SELECT id FROM paid")).toEqual([{ id: "in_1" }]);
          child.kill("SIGTERM");
          await end;
        },
        "frameworks",
      );
    }));
});
