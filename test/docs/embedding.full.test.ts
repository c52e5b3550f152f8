import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ended, startChild } from "../support/child.ts";
import { withDatabase } from "../support/databases.ts";
import { namedBlocks, withFiles } from "../support/doc-blocks.ts";
import { expectHandledOnce, PAGE_SECRET } from "../support/embedding-page.ts";
import { execute } from "../support/execute.ts";
import { freePort } from "../support/free-port.ts";

const blocks = namedBlocks("docs/embedding.md");

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
          STRIPE_SECRET: PAGE_SECRET,
          ONCEHOOK_DATABASE_URL: target.url,
          ONCEHOOK_ENCRYPTION_KEY: randomBytes(32).toString("base64"),
          // The application's own, which are nothing to the receiver.
          DATABASE_URL: "mysql://app",
          PORT: "x",
        });
        const end = ended(child);
        await expectHandledOnce(target, port);
        child.kill("SIGTERM");
        expect(await end).toMatchObject({ code: 0 });
      });
    }),
);
