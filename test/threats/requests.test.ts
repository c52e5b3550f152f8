import { createHmac } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DIALECTS, withDatabase } from "../support/databases.ts";
import { rawExchange } from "../support/raw-exchange.ts";
import { payment, SECRET, startReceiver, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

let receiver: TestReceiver;
let release: () => void;
let ended: Promise<void>;

// One receiver for all of them: whatever one request does must not be felt by the next.
beforeAll(async () => {
  const ready = Promise.withResolvers<TestReceiver>();
  const over = Promise.withResolvers<void>();
  ended = withDatabase("sqlite", async (target) => {
    const started = await startReceiver(target);
    ready.resolve(started);
    await over.promise;
    await started.stop();
  });
  receiver = await ready.promise;
  release = over.resolve;
});
afterAll(async () => {
  release();
  await ended;
});

const sign = (body: string | Uint8Array) => createHmac("sha256", SECRET).update(body).digest("hex");
const wire = (lines: readonly string[], body = "") =>
  `${["POST /api/platform/callback HTTP/1.1", "Host: x", "Connection: close", ...lines].join("\r\n")}\r\n\r\n${body}`;
const event = () => JSON.stringify(payment());
const records = () => receiver.count("oncehook_records");

/** A second request, hidden in what a proxy in front may take for the body of the first. */
function hidden(): string {
  const body = event();
  return wire([`Content-Length: ${body.length}`, `X-Signature: ${sign(body)}`], body);
}

describe("a request that two servers read differently", () => {
  it.each([
    ["a length and chunks", ["Content-Length: 5", "Transfer-Encoding: chunked"]],
    ["chunks and a length", ["Transfer-Encoding: chunked", "Content-Length: 5"]],
    ["two lengths", ["Content-Length: 5", "Content-Length: 6"]],
    ["a length with a sign", ["Content-Length: +5"]],
    ["a length with a space before the colon", ["Content-Length : 5"]],
    ["an unknown coding", ["Transfer-Encoding: xchunked"]],
    ["chunks that are not the last coding", ["Transfer-Encoding: chunked, identity"]],
    ["two codings that are both chunks", ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"]],
    ["a header that is folded onto a second line", ["X-Folded: a", " Transfer-Encoding: chunked"]],
    ["a header with NUL", ["X-Nul: a\0b"]],
    ["a header without a name", [": nameless"]],
    ["a line that is no header", ["no colon here"]],
  ])("an ambiguous request is refused, and nothing of it is taken for a second one: %s", async (_title, lines) => {
    const before = await records();
    const answer = await rawExchange(receiver.publicOrigin, wire(lines, `0\r\n\r\n${hidden()}`));
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(await records()).toBe(before);
  });

  it("a request with chunks that end in a bare line feed is refused", async () => {
    const body = event();
    const lines = ["Transfer-Encoding: chunked", `X-Signature: ${sign(body)}`];
    const answer = await rawExchange(receiver.publicOrigin, wire(lines, `${body.length.toString(16)}\n${body}\n0\n\n`));
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
  });
});

describe("a request with Expect", () => {
  it("a request with Expect: 100-continue gets 100 Continue and then its response", async () => {
    const body = event();
    const lines = ["Expect: 100-continue", `Content-Length: ${body.length}`, `X-Signature: ${sign(body)}`];
    const answer = await rawExchange(receiver.publicOrigin, wire(lines, body));
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
  });

  it("a request with an unknown expectation is refused", async () => {
    const answer = await rawExchange(receiver.publicOrigin, wire(["Expect: 200-ok", "Content-Length: 0"]));
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
  });
});

describe("a path", () => {
  it.each([
    "/api/platform/../platform/callback",
    "/api/platform/%2e%2e/platform/callback",
    "/api/platform//callback",
    "/api/platform/callback%00",
    "/api/platform/callback/..%2f..%2f..%2fetc%2fpasswd",
    "/api/platform/callback;x",
    "/API/platform/callback",
    "//x/api/platform/callback",
    "/metrics",
    "/api/v1/failures",
  ])("a path that differs from the registered one returns 404: %s", async (path) => {
    const body = event();
    const lines = [`Content-Length: ${body.length}`, `X-Signature: ${sign(body)}`];
    const request = wire(lines, body).replace("/api/platform/callback", path);
    expect(await rawExchange(receiver.publicOrigin, request)).toMatch(/^HTTP\/1\.1 404 /);
  });
});

describe("a signed body", () => {
  const deep = `${'{"a":'.repeat(70)}1${"}".repeat(70)}`;
  const bytes = (...values: number[]) => Buffer.from(values);
  it.each([
    ["nothing", "", 400],
    ["UTF-16", Buffer.from(event(), "utf16le"), 400],
    ["an overlong slash", bytes(0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d), 400],
    ["an encoded surrogate", bytes(0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d), 400],
    ["a hundred thousand open brackets", "[".repeat(100_000), 400],
    ["seventy levels", deep, 400],
    ["__proto__", '{"event_id":"e","__proto__":{"admin":true}}', 400],
    ["__proto__ in escapes", '{"event_id":"e","\\u005f_proto__":{"admin":true}}', 400],
    ["constructor.prototype", '{"event_id":"e","constructor":{"prototype":{"admin":true}}}', 400],
    ["an id that is an object", '{"event_id":{"$ne":null}}', 400],
    ["an id of NUL", '{"event_id":"a\\u0000"}', 400],
    ["an id with a line feed", '{"event_id":"a\\nb"}', 400],
    ["an id with an escape sequence of a terminal", '{"event_id":"\\u001b[2J"}', 400],
    ["an id with a lone surrogate", '{"event_id":"\\ud83d"}', 400],
    ["an id of 256 bytes", `{"event_id":"${"x".repeat(256)}"}`, 400],
    ["a number beyond all numbers", '{"event_id":"e","event_type":"payment_notify","timestamp":1e400,"data":{}}', 400],
    ["a type that every object has", '{"event_id":"e","event_type":"constructor","timestamp":1,"data":{}}', 400],
  ])("a signed body with %s is refused, and changes nothing", async (_title, body, status) => {
    const before = await records();
    const content = Buffer.from(body);
    const head = wire([`Content-Length: ${content.length}`, `X-Signature: ${sign(content)}`]);
    const answer = await rawExchange(receiver.publicOrigin, Buffer.concat([Buffer.from(head), content]));
    expect(answer.slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
    expect(await records()).toBe(before);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  it("a signed body with a repeated key has the key's last value, for the id and for the handler", async () => {
    const id = `twice-${Date.now()}`;
    const body = event().replace(/"event_id":"[^"]*"/, `"event_id":"other","event_id":"${id}"`);
    const lines = [`Content-Length: ${body.length}`, `X-Signature: ${sign(body)}`];
    expect(await rawExchange(receiver.publicOrigin, wire(lines, body))).toMatch(/^HTTP\/1\.1 200 /);
    expect(await receiver.count("oncehook_records", `event_id = '${id}'`)).toBe(1);
    expect(await receiver.count("orders", `event_id = '${id}'`)).toBe(1);
    expect(await receiver.count("oncehook_records", "event_id = 'other'")).toBe(0);
  });

  it("ids that only look alike are different events, because no id is normalized", async () => {
    const alike = ["caf\u00e9", "cafe\u0301", "CAF\u00c9", "\u0441af\u00e9", "caf\u00e9 ", "caf\u00e9\u200b"];
    const mark = `alike-${Date.now()}-`;
    for (const id of alike) {
      const answer = await receiver.send(payment({ event_id: `${mark}${id}` }));
      expect(answer.body).toMatchObject({ status: "success" });
    }
    expect(await receiver.count("oncehook_records", `event_id LIKE '${mark}%'`)).toBe(alike.length);
  });
});

describe.each(DIALECTS)("a callback on %s", (dialect) => {
  it.each(["x'); DROP TABLE oncehook_records; --", 'x" OR "1"="1', "x\\'; SELECT 1; /*", "$1 ? :a @b %s"])(
    "a callback with SQL in every field is handled like any other: %s",
    (sql) =>
      withReceiver(dialect, async (one) => {
        const sent = payment({
          event_id: sql,
          event_type: "payment_notify",
          data: { order_id: sql, amount: 1 },
        });
        expect((await one.send(sent)).body).toMatchObject({ status: "success", data: { order_id: sql } });
        expect((await one.send(sent)).body).toEqual({ status: "already_processed" });
        const query = new URLSearchParams({ event_id: sql });
        const { body } = await one.admin(`/api/v1/events?${query}`);
        expect(body).toMatchObject({ items: [{ event_id: sql, result: { order_id: sql } }] });
        expect(await one.count("oncehook_records")).toBe(1);
        await until(async () => (await one.count("oncehook_callbacks")) === 2);
      }),
  );
});

describe("the log", () => {
  it("the log holds one line for each callback, whatever stands in it", async () => {
    const before = receiver.lines.length;
    const body = event();
    const lines = [
      `Content-Length: ${body.length}`,
      `X-Signature: ${sign(body)}`,
      'X-Event-Type: payment_notify","level":60,"msg":"forged',
      "User-Agent: \u009b31m\u2028evil",
    ];
    await rawExchange(receiver.publicOrigin, Buffer.from(wire(lines, body), "utf8"));
    const fresh = receiver.lines.slice(before);
    expect(fresh.every((line) => typeof line.level === "number" && line.level < 60)).toBe(true);
    expect(fresh.some((line) => line.msg === "forged")).toBe(false);
  });

  it("metrics have no label that an unauthenticated sender chose", async () => {
    for (let at = 0; at < 20; at += 1) {
      const sent = payment({ event_type: `type-${at}` });
      await receiver.send(sent, { headers: { "x-event-type": `type-${at}` } });
    }
    const { body } = await receiver.admin("/metrics");
    expect(String(body.text)).not.toContain("type-");
  });
});
