import fastify, { type FastifyInstance } from "fastify";
import { oncehook } from "../../src/embed/fastify.ts";
import { type Receiver, toNodeHandler } from "../../src/embed/index.ts";
import type { Framework } from "../scenarios.ts";
import { servedBy } from "./listen.ts";

async function listen(app: FastifyInstance) {
  app.post("/orders", async (request) => request.body);
  await app.listen({ port: 0, host: "127.0.0.1" });
  const { origin } = servedBy(app.server);
  return { origin, close: () => app.close() };
}

async function serve(receiver: Receiver, prefix = "") {
  const app = fastify({ forceCloseConnections: true });
  await app.register(oncehook, { receiver, prefix });
  return listen(app);
}

export const FASTIFY: Framework = {
  name: "Fastify 5",
  serve: (receiver) => serve(receiver),
  behindParser: {
    serve(receiver) {
      const handle = toNodeHandler(receiver);
      const app = fastify({ forceCloseConnections: true });
      app.all("/api/*", (request, reply) => {
        reply.hijack();
        handle(request.raw, reply.raw);
      });
      return listen(app);
    },
    message: /^something has read the body before the receiver.*oncehook\/fastify/,
  },
};

export const FASTIFY_PREFIX: Framework = {
  name: "Fastify 5 with a prefix of baseUrl",
  mount: "/hooks",
  serve: (receiver) => serve(receiver, "/hooks"),
};

export const FASTIFY_PREFIX_UNKNOWN: Framework = {
  name: "Fastify 5 with a prefix that baseUrl does not have",
  mount: "/hooks",
  baseUrl: "https://app.example",
  serve: (receiver) => serve(receiver, "/hooks"),
};
