import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { AdminOptions } from "../../src/embed/admin-fetch.ts";
import type { AdminReceiver } from "../../src/embed/admin-node-handler.ts";
import { namedBlocks, withFiles } from "../support/doc-blocks.ts";
import { withEmbeddedAdmin } from "../support/embedded-admin.ts";

interface Shop {
  readonly admin: AdminOptions;
  createShop(receiver: AdminReceiver): Server;
}

const LOGIN = `export async function personOf(cookie) {
  const [, email] = /shop=(\\S+)/.exec(cookie ?? "") ?? [];
  return email === undefined ? undefined : { email, isAdmin: email.startsWith("ada@") };
}`;
const HANDLER = join(process.cwd(), "src/embed/admin-node-handler.ts");

it("the application of docs/dashboard.md serves the page to its own people, under its path", () => {
  const block = namedBlocks("docs/dashboard.md").get("shop-admin") ?? "";
  const shop = block.replace('from "oncehook"', `from ${JSON.stringify(HANDLER)}`);
  return withFiles(
    [
      ["shop.ts", shop],
      ["login.ts", LOGIN],
    ],
    async (folder) => {
      const { admin, createShop } = (await import(join(folder, "shop.ts"))) as Shop;
      await withEmbeddedAdmin("sqlite", admin, async (receiver) => {
        const server = createShop(receiver).listen(0, "127.0.0.1");
        await once(server, "listening");
        const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
        const session = async (cookie: string) => {
          const response = await fetch(`${origin}/admin/webhooks/api/v1/session`, { headers: { cookie } });
          return [response.status, await response.json()];
        };
        try {
          expect(await (await fetch(origin)).text()).toBe("The shop");
          expect((await session("shop="))[0]).toBe(403);
          const ada = { actor: "ada@shop.example", role: "operator" };
          expect(await session("shop=ada@shop.example")).toEqual([200, expect.objectContaining(ada)]);
          const vera = { actor: "vera@shop.example", role: "viewer" };
          expect(await session("shop=vera@shop.example")).toEqual([200, expect.objectContaining(vera)]);
        } finally {
          server.close();
          server.closeAllConnections();
        }
      });
    },
  );
});
