import { Hono } from "hono";
import type { Receiver } from "oncehook";

export function createApp(receiver: Receiver) {
  const app = new Hono();
  // The Request as it came, before anything has read its body: Stripe signed the bytes.
  app.all("/api/:source/callback", (context) => receiver.fetch(context.req.raw));
  app.get("/", (context) => context.text("The shop"));
  return app;
}
