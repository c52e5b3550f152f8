import { setTimeout as wait } from "node:timers/promises";
import express from "express";
import { isSigned, PATH, paymentOf } from "./payment.ts";

const WAIT_MS = Number(process.env.BENCH_WAIT_MS ?? 0);

/**
 * What both hand-written servers do around their database: the raw body, its HMAC, its shape, the answer.
 * `store` resolves with the answer's text once the event is durable.
 */
export function serveExpress(store) {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.post(PATH, express.raw({ type: () => true, limit: "1mb" }), async (request, response) => {
    const startedAt = performance.now();
    if (!isSigned(request.body, request.headers["x-signature"])) {
      response.status(401).json({ status: "error", message: "invalid signature" });
      return;
    }
    const payment = paymentOf(request.body);
    if (payment === undefined) {
      response.status(400).json({ status: "error", message: "not an event" });
      return;
    }
    if (WAIT_MS > 0) await wait(WAIT_MS);
    response.type("json").send(await store(payment, request, startedAt));
  });
  app.listen(Number(process.env.PORT), "127.0.0.1");
}
