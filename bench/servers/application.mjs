/** Applications of their users' frameworks, with a receiver of Oncehook inside. */
import { createServer } from "node:http";
import { serve } from "@hono/node-server";
import express from "express";
import { Hono } from "hono";
import { createReceiver, toNodeHandler } from "../../src/index.ts";

const { FRAMEWORK, PORT, DATABASE_URL, SIGNING_SECRET, POOL_SIZE } = process.env;
const variables = {
  APP_ENV: "test",
  SIGNING_SECRET,
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
  HANDLERS: "payment_notify",
  POOL_SIZE,
  // As the server's: each callback has its line.
  LOG_LEVEL: "info",
};
const receiver = createReceiver({}, { database: DATABASE_URL, variables });
await receiver.ready();

const FRAMEWORKS = {
  node: () => createServer(toNodeHandler(receiver)),
  express() {
    const app = express();
    app.use(toNodeHandler(receiver));
    app.use(express.json());
    return createServer(app);
  },
  hono() {
    const app = new Hono();
    app.all("/api/*", ({ req, env }) => receiver.fetch(req.raw, { clientAddress: env.incoming.socket.remoteAddress }));
    serve({ fetch: app.fetch, port: Number(PORT), hostname: "127.0.0.1" });
  },
};
FRAMEWORKS[FRAMEWORK]()?.listen(Number(PORT), "127.0.0.1");
process.once("SIGTERM", () => receiver.close().then(() => process.exit(0)));
