import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  createRegistry,
  HandlerTimedOut,
  isRejected,
  SharedTimeLimit,
  type TimeLimit,
  validateData,
} from "../../src/handlers/index.ts";
import { defineHandler, Rejected } from "../../src/index.ts";

const valid = { type: "shipped", data: z.object({}), handle: () => ({}) };
const never = new Promise<never>(() => {});

describe("defineHandler", () => {
  it("a handler serves both versions unless it names one", () => {
    expect(defineHandler(valid).versions).toEqual(["v1", "v2"]);
    expect(defineHandler({ ...valid, versions: ["v2"] }).versions).toEqual(["v2"]);
  });

  it.each([
    "v2.core.account[configuration.merchant].capability_status_updated",
    "transfers#state-change",
    "/deploy",
    "EC2 Instance State-change Notification",
    "arn:aws:sns:eu-central-1:123456789012:orders",
    "v2.core.account[*",
    "transfers#*",
    "*",
  ])("a handler can name the type %s", (type) => {
    expect(defineHandler({ ...valid, source: "acme", type }).type).toBe(type);
  });

  it.each([
    [{ ...valid, type: "" }, '`type`: got "", expected a type as the platform sends it'],
    [{ ...valid, type: "shipped " }, "`type`: got"],
    [{ ...valid, type: "ship*" }, "`type`: got"],
    [{ ...valid, type: "a*b" }, "`type`: got"],
    [{ ...valid, type: "a\nb" }, "`type`: got"],
    [{ ...valid, versions: [] }, "`versions`: got [], expected a list of v1 and v2"],
    [{ ...valid, versions: ["v3"] }, '`versions`: got ["v3"]'],
    [{ ...valid, data: {} }, "`data`: got {}, expected a Standard Schema"],
    [{ ...valid, handle: "no" }, '`handle`: got "no", expected a function'],
    [{ ...valid, concurrency: 0 }, "`concurrency`: got 0, expected an integer from 1 to 10000"],
    [{ ...valid, orderBy: "id" }, '`orderBy`: got "id", expected a place in the event'],
    [{ ...valid, orderBy: "data..id" }, '`orderBy`: got "data..id"'],
    [{ ...valid, dropStale: true }, "`dropStale`: expected `orderBy` beside it"],
    [{ ...valid, orderBy: "data.id", dropStale: "yes" }, '`dropStale`: got "yes", expected true, false or'],
    [{ ...valid, orderBy: "data.id", dropStale: { sequence: 1 } }, "`dropStale.sequence`: got 1"],
    [{ ...valid, prepare: 1 }, "`prepare`: got 1, expected a function"],
    [{ ...valid, handel: 1 }, "`handel`: no such option; there are source, name, type, versions, data"],
  ])("defineHandler says what is wrong with %j", (definition, message) => {
    expect(() => defineHandler(definition as never)).toThrow(message);
  });
});

describe("the registry", () => {
  const builtIn = defineHandler(valid);
  const own = defineHandler({ ...valid, versions: ["v2"] });

  it("the registry puts a user's handler in the place of the built-in one of the same type and version", () => {
    const registry = createRegistry([builtIn], [own]);
    expect(registry.find("platform", "v1", "shipped")).toBe(builtIn);
    expect(registry.find("platform", "v2", "shipped")).toBe(own);
    expect(registry.types).toEqual(["shipped"]);
  });

  it("the registry refuses two of the user's handlers for one type and version", () => {
    expect(() => createRegistry([], [own, defineHandler(valid)])).toThrow(
      'two handlers are configured for "shipped" in v2',
    );
  });

  it("the registry knows no handler that was not given", () => {
    expect(createRegistry([builtIn], []).find("platform", "v1", "toString")).toBeUndefined();
  });
});

describe("the time limit", () => {
  it("the time limit ends the wait and aborts the work's signal", async () => {
    let signal: AbortSignal | undefined;
    const work = new SharedTimeLimit(20).run("the handler", (limit) => {
      signal = limit.signal;
      return never;
    });
    await expect(work).rejects.toBeInstanceOf(HandlerTimedOut);
    expect(signal?.aborted).toBe(true);
    expect(signal?.reason).toBeInstanceOf(HandlerTimedOut);
  });

  it("work that reads its signal only after the time limit gets an aborted one", async () => {
    let limit: TimeLimit | undefined;
    const work = new SharedTimeLimit(20).run("the handler", (given) => {
      limit = given;
      return never;
    });
    await expect(work).rejects.toBeInstanceOf(HandlerTimedOut);
    expect(limit?.signal.aborted).toBe(true);
  });

  it("the time limit does not touch work that ends in time, well or not", async () => {
    expect(await new SharedTimeLimit(1_000).run("x", () => "done")).toBe("done");
    await expect(new SharedTimeLimit(1_000).run("x", () => Promise.reject(new Error("own")))).rejects.toThrow("own");
    const throwing = () => {
      throw new Error("at once");
    };
    await expect(new SharedTimeLimit(1_000).run("x", throwing)).rejects.toThrow("at once");
  });
});

describe("validation by any Standard Schema", () => {
  const custom = (issues: object[]) =>
    ({ "~standard": { version: 1, vendor: "test", validate: async () => ({ issues }) } }) as never;

  it("the validation takes an asynchronous schema and names the fields, three at the most", async () => {
    const issue = (key: unknown) => ({ path: ["a", { key }], message: "is wrong" });
    expect(
      await validateData(
        custom([issue(1), issue("b"), { message: "bad" }, issue("x")]),
        {},
        new SharedTimeLimit(1_000),
      ),
    ).toMatchObject({
      code: "event_invalid",
      message: "data.a.1: is wrong; data.a.b: is wrong; data: bad",
    });
  });

  it("a schema's issue without a message still gets a text", async () => {
    expect(await validateData(custom([]), {}, new SharedTimeLimit(1_000))).toMatchObject({
      message: "data is not valid",
    });
  });

  it("the validation hands the handler what the schema made of it", async () => {
    const schema = z.object({ amount: z.string().transform(Number) });
    expect(await validateData(schema, { amount: "5" }, new SharedTimeLimit(1_000))).toEqual({ value: { amount: 5 } });
  });
});

describe("Rejected", () => {
  it("a Rejected error from another copy of the package is recognized by its brand", () => {
    const other = Object.assign(new Error("x"), { [Symbol.for("oncehook.Rejected")]: true });
    expect([new Rejected("x"), other, new Error("x"), "x"].map(isRejected)).toEqual([true, true, false, false]);
  });
});
