import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler, Rejected } from "../../src/index.ts";
import { DIALECTS } from "../support/databases.ts";
import { event, payment, type Sending, type TestReceiver, withReceiver } from "../support/receiver.ts";

const any = z.record(z.string(), z.unknown());
const handlers = [
  defineHandler({
    type: "schema_throws",
    data: any.transform(() => {
      throw new Error("a bug in the schema");
    }),
    handle: () => ({}),
  }),
  defineHandler({
    type: "fails",
    data: any,
    handle: () => Promise.reject(new Error("the stock service is down")),
  }),
  defineHandler({
    type: "rejects",
    data: any,
    handle: () => Promise.reject(new Rejected("order_id: no such order")),
  }),
  defineHandler({ type: "slow", data: any, handle: () => sleep(5_000, {}, { ref: false }) }),
  defineHandler({ type: "no_object", data: any, handle: () => "text" as never }),
  defineHandler({ type: "no_object_as_json", data: any, handle: () => ({ toJSON: () => "text" }) as never }),
  defineHandler({ type: "second", versions: ["v2"], data: any, handle: () => ({ version: 2 }) }),
  defineHandler({ type: "typed", data: any, handle: ({ event }) => ({ type: event.event_type }) }),
  defineHandler({ type: "which", data: any, handle: ({ version }) => ({ version }) }),
];
const env = { HANDLER_TIMEOUT_MS: "200" };
const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
const paid = { status: "success", data: { order_id: "o1" } };

/** One row of the table: what is sent, what must come back, and how many rows it must leave. */
interface Scenario {
  readonly title: string;
  readonly event?: object;
  readonly sending?: Sending;
  readonly status: number;
  readonly body: unknown;
  readonly records?: number;
  readonly failures?: number;
}

const handled: readonly Scenario[] = [
  {
    title: "a schema that throws",
    event: event("schema_throws", {}),
    status: 500,
    body: { error: "internal error" },
    failures: 1,
  },
  { title: "a payment", event: payment(), status: 200, body: paid, records: 1 },
  {
    title: "a message of any JSON",
    event: event("webhook_message", { message: { a: [1, null, "\u0000"] } }),
    status: 200,
    body: { status: "success", data: { message_id: expect.stringMatching(/^[\w-]{36}$/) } },
    records: 1,
  },
  {
    title: "a message nested 64 levels deep",
    event: event("webhook_message", { message: JSON.parse(deep(62)) }),
    status: 200,
    body: { status: "success", data: { message_id: expect.any(String) } },
    records: 1,
  },
  {
    title: "an authorization, its code exchanged with the sandbox platform",
    event: event("user_authorized", { code: "c1", user_id: "u1" }),
    status: 200,
    body: { status: "success", data: { user_id: "u1" } },
    records: 1,
  },
  {
    title: "an authorization whose user only the platform names",
    event: event("user_authorized", { code: "c1" }),
    status: 200,
    body: { status: "success", data: { user_id: "sandbox-user" } },
    records: 1,
  },
  {
    title: "an authorization code that the platform refuses",
    event: event("user_authorized", { code: "sandbox_refused", user_id: "u1" }),
    status: 400,
    failures: 1,
    body: { error: "data.code: the platform does not accept this authorization code" },
  },
  {
    title: "an authorization while the platform is down",
    event: event("user_authorized", { code: "sandbox_unavailable", user_id: "u1" }),
    status: 500,
    body: { error: "internal error" },
    failures: 1,
  },
  {
    title: "an event that the handler rejects",
    event: event("rejects", {}),
    status: 400,
    failures: 1,
    body: { error: "order_id: no such order" },
  },
  {
    title: "a handler that fails",
    event: event("fails", {}),
    status: 500,
    body: { error: "internal error" },
    failures: 1,
  },
  {
    title: "a handler that exceeds its time limit",
    event: event("slow", {}),
    status: 500,
    body: { error: "internal error" },
    failures: 1,
  },
  {
    title: "a handler that returns no object",
    event: event("no_object", {}),
    status: 500,
    body: { error: "internal error" },
    failures: 1,
  },
  {
    title: "a handler that returns an object that JSON carries as another value",
    event: event("no_object_as_json", {}),
    status: 500,
    body: { error: "internal error" },
    failures: 1,
  },
];

const dispatched: readonly Scenario[] = [
  {
    title: "the header's type where header and body differ",
    event: event("payment_notify", { message: "m" }),
    sending: { headers: { "x-event-type": "webhook_message" } },
    status: 200,
    body: { status: "success", data: { message_id: expect.any(String) } },
    records: 1,
  },
  {
    title: "the type that decided, as the handler sees it",
    event: event("payment_notify", {}),
    sending: { headers: { "x-event-type": "typed" } },
    status: 200,
    body: { status: "success", data: { type: "typed" } },
    records: 1,
  },
  {
    title: "an unknown type",
    event: event("nobody_knows", {}),
    status: 400,
    body: { error: "unknown event type" },
  },
  {
    title: "version 2's type in version 1",
    event: event("second", {}),
    sending: { path: "/api/v1/platform/callback" },
    status: 400,
    body: { error: "unknown event type" },
  },
  {
    title: "version 2's type in version 2",
    event: event("second", {}),
    sending: { path: "/api/v2/platform/callback" },
    status: 200,
    body: { status: "success", data: { version: 2 } },
    records: 1,
  },
  {
    title: "version 1 by its path, whatever the header says",
    event: event("which", {}),
    sending: { path: "/api/v1/platform/callback", headers: { "x-api-version": "v2" } },
    status: 200,
    body: { status: "success", data: { version: "v1" } },
    records: 1,
  },
  {
    title: "version 2 by header",
    event: event("which", {}),
    sending: { headers: { "x-api-version": "v2" } },
    status: 200,
    body: { status: "success", data: { version: "v2" } },
    records: 1,
  },
  {
    title: "version 1 for another header",
    event: event("which", {}),
    sending: { headers: { "x-api-version": "V2" } },
    status: 200,
    body: { status: "success", data: { version: "v1" } },
    records: 1,
  },
];

const unauthenticated: readonly Scenario[] = [
  { title: "a signature by another secret", sending: { secret: "x".repeat(32) } },
  { title: "an upper-case signature", sending: { headers: { "x-signature": "A".repeat(64) } } },
  { title: "a signature with a prefix", sending: { headers: { "x-signature": `sha256=${"a".repeat(64)}` } } },
  { title: "a short signature", sending: { headers: { "x-signature": "a".repeat(63) } } },
  { title: "an empty signature", sending: { headers: { "x-signature": "" } } },
].map((scenario) => ({ ...scenario, event: payment(), status: 401, body: { error: "invalid signature" } }));

const malformed: readonly Scenario[] = [
  { title: "a body that is not JSON", sending: { raw: "{" }, body: "the body is not valid JSON" },
  { title: "an empty body", sending: { raw: "" }, body: "the body is not valid JSON" },
  { title: "a body that is an array", sending: { raw: "[]" }, body: "the body is not a JSON object" },
  {
    title: "invalid UTF-8",
    sending: { raw: Uint8Array.of(0x7b, 0xff, 0x7d) },
    body: "the body is not valid UTF-8",
  },
  {
    title: "a byte order mark inside the body",
    sending: { raw: "{\ufeff}" },
    body: "the body is not valid JSON",
  },
  {
    title: "nesting beyond 64 levels",
    sending: { raw: `{"a":${deep(64)}}` },
    body: "the body is nested more than 64 levels deep",
  },
  {
    title: "a million levels",
    sending: { raw: "[".repeat(1_000_000) },
    body: "the body is nested more than 64 levels deep",
  },
  {
    title: "a __proto__ key",
    sending: { raw: '{"event_id":"e","__proto__":{}}' },
    body: "the body holds a forbidden key",
  },
  {
    title: "constructor.prototype",
    sending: { raw: '{"event_id":"e","constructor":{"prototype":{}}}' },
    body: "the body holds a forbidden key",
  },
  {
    title: "no event_id",
    event: payment({ event_id: undefined }),
    body: "event_id: missing; expected a string",
  },
  { title: "a numeric event_id", event: payment({ event_id: 7 }), body: "event_id: expected a string" },
  { title: "an empty event_id", event: payment({ event_id: "" }), body: "event_id: is empty" },
  {
    title: "an event_id of 256 bytes",
    event: payment({ event_id: "é".repeat(128) }),
    body: "event_id: is longer than 255 bytes",
  },
  {
    title: "NUL in event_id",
    event: payment({ event_id: "a\u0000" }),
    body: "event_id: holds control characters",
  },
  {
    title: "a lone surrogate in event_id",
    sending: { raw: '{"event_id":"\\ud800"}' },
    body: "event_id: holds lone surrogates",
  },
  {
    title: "no event_type in the body",
    event: payment({ event_type: undefined }),
    sending: { headers: { "x-event-type": "payment_notify" } },
    body: "event_type: missing; expected a string",
  },
  {
    title: "no type anywhere",
    event: payment({ event_type: undefined }),
    body: "the event type is missing: expected event_type in the body",
  },
  {
    title: "a timestamp that is a text",
    event: payment({ timestamp: "now" }),
    body: "timestamp: expected an integer, seconds since the Unix epoch",
  },
  {
    title: "a timestamp with a fraction",
    event: payment({ timestamp: 1.5 }),
    body: "timestamp: expected an integer, seconds since the Unix epoch",
  },
  {
    title: "a timestamp beyond every date",
    event: payment({ timestamp: 2 ** 53 }),
    body: "timestamp: expected an integer, seconds since the Unix epoch",
  },
  {
    title: "no timestamp",
    event: payment({ timestamp: undefined }),
    body: "timestamp: missing; expected an integer, seconds since the Unix epoch",
  },
  { title: "data that is no object", event: payment({ data: [] }), body: "data: expected an object" },
  { title: "data without order_id", event: payment({ data: { amount: 1 } }), body: /^data\.order_id: / },
  { title: "an amount that is no number", event: payment({}, { amount: "ten" }), body: /^data\.amount: / },
  { title: "an amount that is a flag", event: payment({}, { amount: true }), body: /^data\.amount: / },
  {
    title: "NUL in a stored text",
    event: payment({}, { order_id: "a\u0000" }),
    body: "data.order_id: must not hold NUL or lone surrogates",
  },
  {
    title: "an amount beyond every number",
    sending: {
      raw: '{"event_id":"big","event_type":"payment_notify","timestamp":1,"data":{"order_id":"o","amount":1e4000}}',
    },
    body: /^data\.amount: /,
  },
].map(({ body, ...scenario }) => ({
  ...scenario,
  status: 400,
  failures: 1,
  body: { error: body instanceof RegExp ? expect.stringMatching(body) : body },
}));

const atTheDoor: readonly Scenario[] = [
  {
    title: "a compressed body",
    event: payment(),
    sending: { headers: { "content-encoding": "gzip" } },
    status: 415,
    body: { error: "content encoding not supported" },
  },
  {
    title: "a body beyond the limit",
    sending: { raw: `"${"x".repeat(1_048_576)}"` },
    status: 413,
    body: { error: "body too large" },
  },
  {
    title: "any content type at all",
    event: payment(),
    sending: { headers: { "content-type": "no/such thing;;" } },
    status: 200,
    body: paid,
    records: 1,
  },
  {
    title: "an event_id of 255 bytes",
    event: payment({ event_id: "x".repeat(255) }),
    status: 200,
    body: paid,
    records: 1,
  },
  {
    title: "an address that does not exist",
    event: payment(),
    sending: { path: "/api/platform/callbacks" },
    status: 404,
    body: { error: "not found" },
  },
];

describe.each(DIALECTS)("the answer on %s", (dialect) => {
  it.each([
    ["every ending of a handler", handled],
    ["every way to dispatch", dispatched],
    ["everything unauthenticated", unauthenticated],
    ["everything malformed", malformed],
    ["what is refused at the door", atTheDoor],
  ])("the response is right for %s, and the database has exactly the expected rows", (_title, scenarios) =>
    withReceiver(
      dialect,
      async (receiver) => {
        for (const scenario of scenarios) await play(receiver, scenario);
      },
      { env, handlers },
    ),
  );
});

async function play(receiver: TestReceiver, scenario: Scenario): Promise<void> {
  const { title, event: sent = {}, sending, status, body, records = 0, failures = 0 } = scenario;
  const before = [await receiver.count("oncehook_records"), await receiver.count("oncehook_failures")];
  const answer = await receiver.send(sent, sending);
  expect({ title, status: answer.status, body: answer.body }).toEqual({ title, status, body });
  expect(answer.headers.get("cache-control"), title).toBe("no-store");
  expect(answer.headers.get("x-content-type-options"), title).toBe("nosniff");
  expect(answer.headers.get("www-authenticate") !== null, title).toBe(status === 401);
  const after = [await receiver.count("oncehook_records"), await receiver.count("oncehook_failures")];
  const grown = { records: after[0]! - before[0]!, failures: after[1]! - before[1]! };
  expect({ title, ...grown }).toEqual({ title, records, failures });
  expect(await receiver.count("oncehook_records", "status = 'processing'"), title).toBe(0);
}
