import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { expect, it } from "vitest";
import { defineConfig } from "../src/index.ts";
import { stripe } from "../src/sources/platforms/index.ts";
import { signedCallback } from "../src/testing/index.ts";
import { ended, startChild } from "../test/support/child.ts";
import { withMigrated } from "../test/support/databases.ts";
import { namedBlocks, withFiles } from "../test/support/doc-blocks.ts";
import { rowsOf } from "../test/support/effects.ts";
import { execute } from "../test/support/execute.ts";
import { freePort } from "../test/support/free-port.ts";
import { listening } from "../test/support/listening.ts";

const STRIPE_SECRET = "whsec_of-the-page";
const blocks = namedBlocks("docs/embedding.md");
const CALLBACK = { source: "stripe", type: "invoice.paid", data: { data: { object: { id: "in_1" } } } };
/** An application of Nest without decorators, which Node itself does not run. */
const NEST_MODULE = `import "reflect-metadata";
import { Module } from "@nestjs/common";
export class AppModule {}
Module({})(AppModule);
`;
/** This folder has a package of its own, in which the name of the project's is not known. */
const SOURCES = {
  oncehook: "index.ts",
  "oncehook/fastify": "embed/fastify.ts",
  "oncehook/sources": "sources/platforms/index.ts",
};

function blockAt(name: string, port: number): readonly [string, string] {
  let text = (blocks.get(name) ?? "").replaceAll("3000", String(port));
  for (const [door, path] of Object.entries(SOURCES)) text = text.replace(`"${door}"`, `"../../src/${path}"`);
  return [`${name}.ts`, text];
}

it.each(["nest", "fastify", "koa"])("the block %s of docs/embedding.md handles a callback", (name) =>
  withMigrated("postgres", async (target) => {
    await execute(target, "CREATE TABLE paid_invoices (id text PRIMARY KEY)");
    const port = await freePort();
    const files = [blockAt("receiver", port), blockAt(name, port), ["app.module.ts", NEST_MODULE] as const];
    await withFiles(
      files,
      async (folder) => {
        const child = startChild(join(folder, `${name}.ts`), [], {
          PATH: process.env.PATH,
          STRIPE_SECRET,
          ONCEHOOK_DATABASE_URL: target.url,
          ONCEHOOK_ENCRYPTION_KEY: randomBytes(32).toString("base64"),
        });
        const end = ended(child);
        const config = defineConfig({ sources: { stripe: stripe({ secret: STRIPE_SECRET }) } });
        const callback = signedCallback(config, CALLBACK);
        const send = async () => (await fetch(`http://127.0.0.1:${port}${callback.path}`, callback)).json();
        await listening(`http://127.0.0.1:${port}/`);
        expect(await send()).toEqual({ status: "success", data: { invoice: "in_1" } });
        expect(await send()).toEqual({ status: "already_processed" });
        expect(await rowsOf(target, "SELECT id FROM paid_invoices")).toEqual([{ id: "in_1" }]);
        child.kill("SIGKILL");
        await end;
      },
      "frameworks",
    );
  }),
);
