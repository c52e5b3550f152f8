import { join } from "node:path";
import { expect, it } from "vitest";
import { stripeCallback } from "../../test/support/application.ts";
import { ended, startChild } from "../../test/support/child.ts";
import { withMigrated } from "../../test/support/databases.ts";
import { fileBlocks, namedBlocks } from "../../test/support/doc-blocks.ts";
import { freePort } from "../../test/support/free-port.ts";
import { until } from "../../test/support/until.ts";
import { pageVariables, STRIPE_SECRET, withPageFiles } from "./page-application.ts";

const PAGE = "docs/frameworks/hono.md";
const byFetch = fileBlocks(PAGE)["server.ts"] ?? "";
const byNode = byFetch.replace(/^app\.all\([\s\S]*?^\);$/m, () => namedBlocks(PAGE).get("by-node") ?? "");

it.each([
  ["by fetch", byFetch],
  ["by Node's request and response", byNode],
])("the application of docs/frameworks/hono.md handles a callback once, %s", (_name, text) =>
  withMigrated("postgres", async ({ url }) => {
    const port = await freePort();
    await withPageFiles({ "server.ts": text.replace("3000", String(port)) }, async (folder) => {
      const child = startChild(join(folder, "server.ts"), [], pageVariables(url));
      const end = ended(child);
      const origin = `http://127.0.0.1:${port}`;
      await until(() =>
        fetch(origin).then(
          () => true,
          () => false,
        ),
      );
      const { id, body, headers } = stripeCallback(undefined, STRIPE_SECRET);
      const init = { method: "POST", body, headers };
      const send = async () => (await fetch(`${origin}/api/stripe/callback`, init)).json();
      expect(await send()).toEqual({ status: "success", data: { handled: id } });
      expect(await send()).toEqual({ status: "already_processed" });
      child.kill("SIGKILL");
      await end;
    });
  }),
);
