import { join } from "node:path";
import { expect, it } from "vitest";
import { ended, startChild } from "../../test/support/child.ts";
import { withDatabase } from "../../test/support/databases.ts";
import { fileBlocks, namedBlocks } from "../../test/support/doc-blocks.ts";
import { rowsOf } from "../../test/support/effects.ts";
import { freePort } from "../../test/support/free-port.ts";
import { until } from "../../test/support/until.ts";
import { pageVariables, paidInvoice, withPageFiles } from "./page-application.ts";

const PAGE = "docs/frameworks/hono.md";
const byFetch = fileBlocks(PAGE);
/** The imports of the block go to the top, the other lines to where the route was. */
const [imports = "", route = ""] = (namedBlocks(PAGE).get("by-node") ?? "").split("\n\n");
const app = byFetch["app.ts"]?.replace(/^ {2}app\.all\([\s\S]*?^ {2}\}\);$/m, () => route);
const byNode = { ...byFetch, "app.ts": `${imports}\n${app}` };

it.each([
  ["by fetch", byFetch],
  ["by Node's request and response", byNode],
])("the application of docs/frameworks/hono.md handles a callback once, %s", (_name, files) =>
  withDatabase("postgres", async (target) => {
    const port = await freePort();
    await withPageFiles(files, async (folder) => {
      const child = startChild(join(folder, "server.ts"), [], { ...pageVariables(target.url), PORT: String(port) });
      const end = ended(child);
      const origin = `http://127.0.0.1:${port}`;
      await until(() =>
        fetch(origin).then(
          () => true,
          () => false,
        ),
      );
      const { body, headers } = paidInvoice();
      const init = { method: "POST", body, headers };
      const send = async () => (await fetch(`${origin}/api/stripe/callback`, init)).json();
      expect(await send()).toEqual({ status: "success", data: { invoice: "in_1" } });
      expect(await send()).toEqual({ status: "already_processed" });
      expect(await rowsOf(target, "SELECT id, cents FROM paid_invoices")).toEqual([{ id: "in_1", cents: 490 }]);
      child.kill("SIGTERM");
      await end;
    });
  }),
);
