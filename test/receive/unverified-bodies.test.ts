import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { describe, expect, it } from "vitest";
import { readRequestBody } from "../../src/receive/read-request-body.ts";
import { UnverifiedBodies, type UnverifiedBody } from "../../src/receive/unverified-bodies.ts";
import { withHttpServer } from "../support/http-server.ts";
import { CLIENT, nodeExchange } from "../support/node-exchange.ts";

/** Bodies of addresses, under one bound, and which of them were ended to make room. */
function bounded(most: number, longestBody: number) {
  const bodies = new UnverifiedBodies(most, longestBody);
  const ended: string[] = [];
  function begin(address: string, name: string): UnverifiedBody {
    const body = bodies.begin(address, () => {
      ended.push(name);
      body.release();
    });
    return body;
  }
  return { bodies, ended, begin };
}

describe("bodies that are not verified yet", () => {
  it("bodies of an address that is back within its share end in order of age, after older ones", () => {
    const { ended, begin } = bounded(400, 100);
    begin("192.0.2.1", "older").reserve(100);
    begin("192.0.2.2", "small").reserve(10);
    const large = begin("192.0.2.2", "large");
    large.reserve(200);
    large.release();
    begin("192.0.2.3", "new").reserve(300);
    expect(ended).toEqual(["older"]);
  });

  it("an address with one body of the largest size is within its share, however small the bound is", () => {
    const { ended, begin } = bounded(200, 100);
    begin("192.0.2.1", "older").reserve(40);
    begin("192.0.2.2", "largest").reserve(100);
    begin("192.0.2.3", "new").reserve(70);
    expect(ended).toEqual(["older"]);
  });

  it("the oldest body is refused bytes past the bound, and is not ended by that", () => {
    const { ended, begin, bodies } = bounded(100, 100);
    const oldest = begin("192.0.2.1", "oldest");
    expect([oldest.reserve(60), oldest.reserve(60)]).toEqual([true, false]);
    expect([ended, bodies.bytes]).toEqual([[], 60]);
  });

  it("a complete body is not ended to make room for others", () => {
    const { ended, begin } = bounded(100, 100);
    const whole = begin("192.0.2.1", "whole");
    whole.reserve(100);
    whole.complete();
    expect(begin("192.0.2.2", "new").reserve(1)).toBe(false);
    expect(ended).toEqual([]);
  });

  it("bodies that wait for keys hold half of the bound, or a single body, and count until they are released", () => {
    const { begin } = bounded(100, 100);
    const [small, large, other] = [begin("192.0.2.1", "s"), begin("192.0.2.1", "l"), begin("192.0.2.2", "o")];
    for (const [body, bytes] of [
      [small, 10],
      [large, 60],
      [other, 30],
    ] as const)
      body.reserve(bytes);
    expect([large.mayWait(), small.mayWait(), large.mayWait()]).toEqual([true, false, true]);
    large.release();
    expect([small.mayWait(), other.mayWait()]).toEqual([true, true]);
  });

  it("unverified bodies count no more once they are released, and each of them once", () => {
    const { bodies, ended, begin } = bounded(100, 100);
    const verified = begin("192.0.2.1", "verified");
    begin("192.0.2.1", "other").reserve(30);
    verified.reserve(50);
    verified.release();
    verified.release();
    expect(bodies.bytes).toBe(30);
    expect(bodies.endOldest("192.0.2.1")).toBe(true);
    expect(ended).toEqual(["other"]);
    expect(bodies.bytes).toBe(0);
  });

  it("the oldest body of an address, or of all of them, ends to make room for a connection", () => {
    const { bodies, ended, begin } = bounded(100, 100);
    for (const [address, name] of [
      ["192.0.2.1", "first"],
      ["192.0.2.2", "second"],
      ["192.0.2.2", "third"],
    ] as const)
      begin(address, name);
    expect([bodies.endOldest("192.0.2.2"), bodies.endOldest("192.0.2.3"), bodies.endOldest()]).toEqual([
      true,
      false,
      true,
    ]);
    expect(ended).toEqual(["second", "first"]);
  });

  it("a complete body that waits for its verification is not ended as the oldest", async () => {
    const bodies = new UnverifiedBodies(1_000, 1_000);
    await withHttpServer(
      async (message, response) => {
        const limits = { maxBytes: 1_000, address: CLIENT, unverified: bodies };
        readRequestBody(nodeExchange(message, response), limits, (body) =>
          response.end(JSON.stringify(["bytes" in body, bodies.bytes, bodies.endOldest()])),
        );
      },
      async (origin) => {
        const response = await fetch(origin, { method: "POST", body: "x".repeat(600) });
        expect(await response.json()).toEqual([true, 600, false]);
      },
    );
  });

  const leave = (message: IncomingMessage) => once(message.destroy(), "close");

  it.each([
    ["before it is read", leave, async () => {}, 1_000],
    ["before it is read, with a length over the bound,", leave, async () => {}, 100],
    ["while it is read", async () => {}, leave, 1_000],
  ])("a body whose client leaves %s ends as malformed, and is not counted", async (_when, before, after, maxBytes) => {
    const bodies = new UnverifiedBodies(1_000, 1_000);
    const found = Promise.withResolvers<unknown>();
    await withHttpServer(
      async (message, response) => {
        const limits = { maxBytes, address: CLIENT, unverified: bodies };
        const ended: unknown[] = [];
        await before(message);
        readRequestBody(nodeExchange(message, response), limits, (body) => ended.push(body));
        await after(message);
        found.resolve([ended, bodies.endOldest()]);
      },
      async (origin) => {
        const sent = fetch(origin, { method: "POST", body: "x".repeat(600) });
        await expect(sent).rejects.toThrow("fetch failed");
        expect(await found.promise).toMatchObject([[{ code: "malformed_request" }], false]);
      },
    );
  });
});
