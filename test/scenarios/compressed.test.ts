import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/handlers/index.ts";
import { type HmacSourceOptions, hmac } from "../../src/sources/platforms/index.ts";
import { describeFullOnPostgres } from "../support/databases.ts";
import { type TestReceiver, withReceiver } from "../support/receiver.ts";

const own: HmacSourceOptions = {
  secret: "the secret of acme",
  signature: { header: "X-Acme-Signature", encoding: "hex" },
  signed: "{body}",
  id: "body.id",
  type: "body.type",
};
const acme = hmac({ ...own, gzip: true });
const plain = hmac(own);

interface Sending {
  readonly source?: string;
  /** What the signature is over, where it is not what is sent. */
  readonly signed?: Buffer;
  readonly encoding?: string;
}

async function send(receiver: TestReceiver, body: Buffer, sending: Sending = {}) {
  const { source = "acme", signed = body, encoding = "gzip" } = sending;
  const headers = { "content-encoding": encoding, ...acme.sign?.({ body: signed, now: new Date() }) };
  const url = `${receiver.publicOrigin}/api/${source}/callback`;
  const response = await fetch(url, { method: "POST", body, headers });
  return { status: response.status, body: (await response.json()) as { status?: string; error?: string } };
}

const order = (id: number, over: object = {}) => Buffer.from(JSON.stringify({ id, type: "order", total: 3, ...over }));

describeFullOnPostgres("compressed callbacks on %s", (dialect) => {
  const seen: unknown[] = [];
  const handlers = ["acme", "plain"].map((source) =>
    defineHandler({
      source,
      type: "order",
      data: z.looseObject({ total: z.number() }),
      handle({ event }) {
        seen.push(event.data);
        return {};
      },
    }),
  );
  const withSources = (use: (receiver: TestReceiver) => Promise<void>) =>
    withReceiver(dialect, use, { sources: { acme, plain }, handlers });

  it("a callback whose signature covers its compressed bytes is handled once", () =>
    withSources(async (receiver) => {
      const body = gzipSync(order(1));
      expect(await send(receiver, body)).toMatchObject({ status: 200, body: { status: "success" } });
      expect(await send(receiver, body, { encoding: "X-GZIP" })).toMatchObject({
        status: 200,
        body: { status: "already_processed" },
      });
      expect(seen).toContainEqual({ id: 1, type: "order", total: 3 });
      expect(await receiver.count("oncehook_records", "source = 'acme'")).toBe(1);
    }));

  it("a signature over the inflated bytes is refused, as a forged one is", () =>
    withSources(async (receiver) => {
      expect((await send(receiver, gzipSync(order(2)), { signed: order(2) })).status).toBe(401);
      expect(await receiver.count("oncehook_records")).toBe(0);
    }));

  it("an uncompressed callback of a platform that compresses is handled too", () =>
    withSources(async (receiver) => {
      expect((await send(receiver, order(3), { encoding: "identity" })).status).toBe(200);
    }));

  it("a compressed body returns 415 at the addresses of other sources, and of the platform", () =>
    withSources(async (receiver) => {
      expect((await send(receiver, gzipSync(order(4)), { source: "plain" })).status).toBe(415);
      expect((await send(receiver, gzipSync(order(4)), { source: "platform" })).status).toBe(415);
      for (const encoding of ["br", "gzip, gzip", "deflate"])
        expect((await send(receiver, gzipSync(order(4)), { encoding })).status).toBe(415);
    }));

  it("a signed body that inflates past the bound is kept as rejected, and so is what is no gzip", () =>
    withSources(async (receiver) => {
      const bomb = gzipSync(order(5, { padding: "x".repeat(20_000_000) }));
      expect(bomb.length).toBeLessThan(100_000);
      expect(await send(receiver, bomb)).toMatchObject({ status: 200 });
      expect(await send(receiver, order(6))).toMatchObject({ status: 200 });
      expect(await receiver.count("oncehook_failures", "state = 'rejected'")).toBe(2);
      expect(await receiver.count("oncehook_records")).toBe(0);
    }));

  it("a compressed body without a signature is refused before it is inflated", () =>
    withSources(async (receiver) => {
      const notGzip = await send(receiver, order(7), { signed: Buffer.from("another body") });
      expect(notGzip.status).toBe(401);
    }));
});
