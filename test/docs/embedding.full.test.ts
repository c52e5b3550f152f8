import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { expect, it } from "vitest";
import { defineConfig } from "../../src/index.ts";
import { stripe } from "../../src/sources/platforms/index.ts";
import { signedCallback } from "../../src/testing/index.ts";
import { ended, startChild } from "../support/child.ts";
import { withDatabase } from "../support/databases.ts";
import { namedBlocks, withFiles } from "../support/doc-blocks.ts";
import { rowsOf } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { freePort } from "../support/free-port.ts";
import { listening } from "../support/listening.ts";

const STRIPE_SECRET = "whsec_of-the-page";
const blocks = namedBlocks("docs/embedding.md");
const CALLBACK = { source: "stripe", type: "invoice.paid", data: { data: { object: { id: "in_1" } } } };

it(
  "the blocks of docs/embedding.md handle a callback with the application's own table, and end by SIGTERM",
  { timeout: 90_000 },
  () =>
    withDatabase("postgres", async (target) => {
      await execute(target, "CREATE TABLE paid_invoices (id text PRIMARY KEY)");
      const port = await freePort();
      const files = Array.from(blocks, ([name, text]) => [`${name}.ts`, text.replace("(3000)", `(${port})`)] as const);
      await withFiles(files, async (folder) => {
        const child = startChild(join(folder, "lifecycle.ts"), [], {
          PATH: process.env.PATH,
          STRIPE_SECRET,
          ONCEHOOK_DATABASE_URL: target.url,
          ONCEHOOK_ENCRYPTION_KEY: randomBytes(32).toString("base64"),
          // The application's own, which are nothing to the receiver.
          DATABASE_URL: "mysql://app",
          PORT: "x",
        });
        const end = ended(child);
        const config = defineConfig({ sources: { stripe: stripe({ secret: STRIPE_SECRET }) } });
        const callback = signedCallback(config, CALLBACK);
        const send = async () => (await fetch(`http://127.0.0.1:${port}${callback.path}`, callback)).json();
        await listening(`http://127.0.0.1:${port}/`);
        expect(await send()).toEqual({ status: "success", data: { invoice: "in_1" } });
        expect(await send()).toEqual({ status: "already_processed" });
        expect(await rowsOf(target, "SELECT id FROM paid_invoices")).toEqual([{ id: "in_1" }]);
        child.kill("SIGTERM");
        expect(await end).toMatchObject({ code: 0 });
      });
    }),
);
