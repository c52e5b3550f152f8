import Fastify from "fastify";
import type { Receiver } from "oncehook";
import { oncehook } from "oncehook/fastify";

export function createApp(receiver: Receiver) {
  const app = Fastify();
  // A scope of its own, whose parser reads nothing: Stripe signed the bytes.
  void app.register(oncehook, { receiver });
  app.get("/", () => ({ shop: "open" }));
  app.addHook("onClose", () => receiver.close());
  return app;
}
