import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { it } from "vitest";
import { ended, startChild } from "../test/support/child.ts";
import { withMigrated } from "../test/support/databases.ts";
import { namedBlocks, withFiles } from "../test/support/doc-blocks.ts";
import { expectHandledOnce, PAGE_SECRET } from "../test/support/embedding-page.ts";
import { execute } from "../test/support/execute.ts";
import { freePort } from "../test/support/free-port.ts";

const blocks = namedBlocks("docs/embedding.md");
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
          STRIPE_SECRET: PAGE_SECRET,
          ONCEHOOK_DATABASE_URL: target.url,
          ONCEHOOK_ENCRYPTION_KEY: randomBytes(32).toString("base64"),
        });
        const end = ended(child);
        await expectHandledOnce(target, port);
        child.kill("SIGKILL");
        await end;
      },
      "frameworks",
    );
  }),
);
