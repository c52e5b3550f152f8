import { createHmac, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { gzipSync } from "node:zlib";
import express, { type Express, type RequestHandler } from "express";
import { describe, expect, it } from "vitest";
import { toNodeHandler } from "../src/embed/index.ts";
import { hmac } from "../src/sources/platforms/index.ts";
import { CALLBACK_PATH, stripeCallback, withApplication } from "../test/support/application.ts";
import { withDatabase } from "../test/support/databases.ts";
import { expressBehind } from "./adapters/express.ts";
import { listen } from "./adapters/listen.ts";
import type { Framework } from "./scenarios.ts";

const SECRET = "a secret of thirty-two bytes 0123";
/** Compresses its bodies, and signs the compressed bytes. */
const COMPRESSING = hmac({
  secret: SECRET,
  signature: { header: "X-Signature", encoding: "hex" },
  signed: "{body}",
  id: "body.id",
  type: "body.type",
  gzip: true,
});
const every = { type: () => true };
const keepsRawBody = express.json({
  verify: (request, _response, bytes) => {
    Object.assign(request, { rawBody: bytes });
  },
});

interface Sent {
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly headers: Record<string, string>;
}

function compressed(): Sent {
  const body = new Uint8Array(gzipSync(JSON.stringify({ id: randomUUID(), type: "invoice.paid" })));
  const signature = createHmac("sha256", SECRET).update(body).digest("hex");
  return {
    body,
    headers: { "content-type": "application/json", "content-encoding": "gzip", "x-signature": signature },
  };
}

/** The status of a callback, and what the log says of it. */
async function answerTo({ body, headers }: Sent, serve: Framework["serve"]): Promise<{ status: number; log: string }> {
  const answer = { status: 0, log: "" };
  const sources = headers["content-encoding"] === undefined ? {} : { sources: { billing: COMPRESSING } };
  await withDatabase("sqlite", (target) =>
    withApplication(
      target,
      async ({ receiver, lines }) => {
        const { origin, close } = await serve(receiver);
        answer.status = (await fetch(origin + CALLBACK_PATH, { method: "POST", body, headers })).status;
        await close();
        answer.log = lines.map(({ msg }) => msg).join("\n");
      },
      { file: sources },
    ),
  );
  return answer;
}

describe("a parser of Express before the receiver", () => {
  it.each<[string, RequestHandler]>([
    ["express.raw()", express.raw(every)],
    ["express.json() with a verify that keeps rawBody", keepsRawBody],
    ["express.json() of another type", express.json({ type: "application/cloudevents+json" })],
  ])("the bytes are taken: %s", async (_name, parser) => {
    expect((await answerTo(stripeCallback(), expressBehind(parser))).status).toBe(200);
  });

  it("express.text() is refused, and the log names it", async () => {
    const { status, log } = await answerTo(stripeCallback(), expressBehind(express.text(every)));
    expect(status).toBe(500);
    expect(log).toContain("Move app.use(toNodeHandler(receiver)) above app.use(express.text())");
  });

  it("a parser of a router is named", async () => {
    const inRouter: Framework["serve"] = (receiver) => {
      const router = express.Router();
      router.use(express.urlencoded(), express.json(), toNodeHandler(receiver));
      return listen(createApp(router));
    };
    const { status, log } = await answerTo(stripeCallback(), inRouter);
    expect(status).toBe(500);
    expect(log).toContain("above app.use(express.json())");
  });

  it("a parser of an application around a mounted one is named", async () => {
    const around: Framework["serve"] = (receiver) => {
      const inner = express().use(toNodeHandler(receiver));
      return listen(createApp(express.json(), inner));
    };
    const { status, log } = await answerTo(stripeCallback(), around);
    expect([status, log]).toEqual([500, expect.stringContaining("above app.use(express.json())")]);
  });

  it("a compressed body is handled before a parser, and refused behind one that has inflated it", async () => {
    const first: Framework["serve"] = (receiver) => listen(createApp(toNodeHandler(receiver)));
    expect((await answerTo(compressed(), first)).status).toBe(200);
    const { status, log } = await answerTo(compressed(), expressBehind(keepsRawBody));
    expect([status, log]).toEqual([
      500,
      expect.stringContaining("express.json() has inflated a body of the encoding gzip"),
    ]);
  });
});

function createApp(...handlers: (RequestHandler | Express)[]) {
  const app = express();
  for (const handler of handlers) app.use(handler);
  return createServer(app);
}
