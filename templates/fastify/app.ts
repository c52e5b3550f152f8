import Fastify from "fastify";
import { type Receiver, toAdminHandler } from "oncehook";
import { oncehook } from "oncehook/fastify";

export function createApp(receiver: Receiver) {
  const app = Fastify();
  // A scope of its own, whose parser reads nothing: Stripe signed the bytes.
  void app.register(oncehook, { receiver });
  const page = toAdminHandler(receiver, { basePath: "/admin/webhooks" });
  // The page of your callbacks, without Fastify's parsers too.
  void app.register((scope, _options, registered) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _body, done) => done(null));
    scope.all("/admin/webhooks*", (request, reply) => {
      reply.hijack();
      page(request.raw, reply.raw);
    });
    registered();
  });
  app.get("/", () => ({ shop: "open" }));
  app.addHook("onClose", () => receiver.close());
  return app;
}
