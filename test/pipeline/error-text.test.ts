import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler, Rejected } from "../../src/index.ts";
import { errorText } from "../../src/pipeline/index.ts";
import { capturedLog } from "../../src/testing/captured-log.ts";
import { DIALECTS } from "../support/databases.ts";
import { event, testConfig, withReceiver } from "../support/receiver.ts";

const fails = () => {
  throw new Error("a getter fails");
};
const withGetter = (property: string, from: object = new Error("hidden")) =>
  Object.defineProperty(from, property, { get: fails });
const ownCause: Error = new Error("outer");
ownCause.cause = new Error("inner", { cause: ownCause });
const everyTrap = new Proxy(
  {},
  { get: () => fails, getOwnPropertyDescriptor: fails, getPrototypeOf: fails, has: fails, ownKeys: fails },
);
const revoked = Proxy.revocable(new Error("gone"), {});
revoked.revoke();

/** What a handler may throw so that reading it throws again, or gives no text. */
const UNREADABLE: [string, unknown][] = [
  ["an error whose stack cannot be read", withGetter("stack")],
  ["an error whose message cannot be read", withGetter("message")],
  ["an error whose name cannot be read", withGetter("name")],
  ["an error whose cause cannot be read", withGetter("cause")],
  ["an error whose code cannot be read", withGetter("code")],
  ["an error whose cause's cause cannot be read", new Error("outer", { cause: withGetter("cause") })],
  ["an error whose stack is no text", Object.assign(new Error("x"), { stack: 5, message: { a: 1 } })],
  ["a Rejected whose message cannot be read", withGetter("message", new Rejected("x"))],
  ["an AggregateError whose errors cannot be read", withGetter("errors", new AggregateError([], "x"))],
  ["a proxy that refuses everything", everyTrap],
  ["a revoked proxy", revoked.proxy],
  ["an object without a prototype", Object.create(null)],
  ["an object that cannot be made a text", { toString: fails, [Symbol.toPrimitive]: fails }],
  ["a symbol", Symbol("s")],
  ["nothing", undefined],
];

describe("the text of an error", () => {
  it.each(UNREADABLE)("the error text is a string for %s", (_title, thrown) => {
    const text = errorText(thrown);
    expect(typeof text).toBe("string");
    expect(text).not.toBe("");
  });

  it("the error text has the first causes, and ends although the causes form a cycle", () => {
    const text = errorText(ownCause);
    expect(text).toMatch(/^Error: outer\n[\s\S]*\ncaused by: Error: inner\ncaused by: Error: outer/);
    expect(text.match(/caused by/g)).toHaveLength(4);
  });

  it("the error text has the readable parts beside an unreadable one", () => {
    const error = withGetter("stack", new Error("the stock is empty", { cause: new Error("no parcels") }));
    expect(errorText(error)).toMatch(/the stock is empty\ncaused by: Error: no parcels/);
  });
});

describe("the log", () => {
  it.each(UNREADABLE)("the log takes %s", (_title, thrown) => {
    const { logger, lines } = capturedLog(testConfig({ dialect: "sqlite", url: "sqlite:unused" }));
    logger.error({ err: thrown }, "it failed");
    logger.error({ err: thrown });
    expect(lines[0]).toMatchObject({ msg: "it failed" });
  });
});

describe.each(DIALECTS)("a handler on %s", (dialect) => {
  it("a handler or prepare step that throws an unreadable value has its failure kept, and its group is answered", () => {
    const thrower = defineHandler({
      type: "thrower",
      data: z.object({ which: z.number() }),
      handle({ event }) {
        throw UNREADABLE[event.data.which]?.[1];
      },
    });
    const preparer = defineHandler({
      type: "preparer",
      data: z.object({ which: z.number() }),
      prepare({ event }): Promise<null> {
        throw UNREADABLE[event.data.which]?.[1];
      },
      handle: () => ({}),
    });
    return withReceiver(
      dialect,
      async (receiver) => {
        const answers = await Promise.all(
          UNREADABLE.flatMap((_, which) => [
            receiver.send(event("thrower", { which })),
            receiver.send(event("preparer", { which })),
            receiver.send(event("webhook_message", { message: "beside" })),
          ]),
        );
        const statuses = answers.map(({ status }) => status);
        expect(statuses).toEqual(UNREADABLE.flatMap(() => [500, 500, 200]));
        expect(await receiver.count("oncehook_failures", "error <> ''")).toBe(2 * UNREADABLE.length);
      },
      { handlers: [thrower, preparer], env: { RATE_LIMIT_CALLBACK: "off", RATE_LIMIT_DEFAULT: "off" } },
    );
  });
});
