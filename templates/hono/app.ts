import type { HttpBindings } from "@hono/node-server";
import { getConnInfo } from "@hono/node-server/conninfo";
import { type Context, Hono } from "hono";
import type { Receiver } from "oncehook";

export function createApp(receiver: Receiver) {
  const app = new Hono<{ Bindings: HttpBindings }>();
  // The Request before anything has read its body: Stripe signed the bytes.
  app.all("/api/:source/callback", (context) => {
    const clientAddress = getConnInfo(context).remote.address ?? "";
    return receiver.fetch(context.req.raw, { clientAddress, target: context.env.incoming.url ?? "" });
  });
  const page = (context: Context) => receiver.admin.fetch(context.req.raw, { basePath: "/admin/webhooks" });
  app.all("/admin/webhooks/*", page);
  app.get("/", (context) => context.text("The shop"));
  return app;
}
