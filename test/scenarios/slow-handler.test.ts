import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import {
  type CallbackResponse,
  event,
  payment,
  type ReceiverOptions,
  type TestReceiver,
  withReceiver,
} from "../support/receiver.ts";
import { until } from "../support/until.ts";

/** A prepare step that ends when the test says so. */
function heldStep() {
  const step = { begun: false, ended: false, runs: 0, end: Promise.withResolvers<void>() };
  const preparing = defineHandler({
    type: "prepare",
    data: z.object({}),
    async prepare() {
      step.begun = true;
      await step.end.promise;
      step.ended = true;
      return { fetched: "once" };
    },
    handle: async ({ prepared }) => {
      step.runs += 1;
      return { prepared: prepared.fetched, runs: step.runs };
    },
  });
  return { step, preparing };
}

/** A receiver on SQLite in which a handler holds the one writer while `meanwhile` runs. */
function whileWriterIsHeld(
  before: (receiver: TestReceiver) => Promise<void>,
  meanwhile: (receiver: TestReceiver) => Promise<void>,
  { handlers = [], ...options }: ReceiverOptions = {},
): Promise<void> {
  const end = Promise.withResolvers<void>();
  let begun = false;
  const holding = defineHandler({
    type: "hold",
    data: z.object({}),
    async handle() {
      begun = true;
      await end.promise;
      return {};
    },
  });
  return withReceiver(
    "sqlite",
    async (receiver) => {
      await before(receiver);
      const held = receiver.send(event("hold", {}));
      await until(() => begun);
      await meanwhile(receiver);
      end.resolve();
      expect((await held).status).toBe(200);
    },
    { ...options, handlers: [...handlers, holding] },
  );
}

const nothing = async () => {};

describe("while a handler holds the writer", () => {
  it("a callback with a wrong signature is answered 401", () =>
    whileWriterIsHeld(nothing, async ({ send }) => {
      expect((await send(payment(), { secret: "another secret, as long as this" })).status).toBe(401);
    }));

  it("a callback of an unknown type is answered 400", () =>
    whileWriterIsHeld(nothing, async ({ send }) => {
      expect((await send(event("nobody_handles_this", {}))).status).toBe(400);
    }));

  it("a callback whose data does not fit is answered 400 once it can be kept", async () => {
    let answer: Promise<CallbackResponse> | undefined;
    await whileWriterIsHeld(nothing, async ({ send }) => {
      answer = send(payment({}, { amount: "a lot" }));
    });
    expect((await answer)?.status).toBe(400);
  });

  it("a duplicate is answered already_processed", () => {
    const sent = payment();
    return whileWriterIsHeld(
      async ({ send }) => {
        await send(sent);
      },
      async ({ send }) => {
        expect((await send(sent)).body).toEqual({ status: "already_processed" });
      },
    );
  });

  it("a callback that finds no place is answered 503", () =>
    whileWriterIsHeld(
      nothing,
      async ({ send }) => {
        expect((await send(payment())).status).toBe(503);
      },
      { env: { MAX_WAITING_CALLBACKS: "1" } },
    ));

  it("a prepare step that has started ends, and its event is handled with the step's result", async () => {
    const { step, preparing } = heldStep();
    let answer: Promise<CallbackResponse> | undefined;
    await whileWriterIsHeld(
      async ({ send }) => {
        answer = send(event("prepare", {}));
        await until(() => step.begun);
      },
      async () => {
        step.end.resolve();
        await until(() => step.ended);
        expect(step.runs).toBe(0);
      },
      { handlers: [preparing] },
    );
    expect((await answer)?.body).toEqual({ status: "success", data: { prepared: "once", runs: 1 } });
  });
});

it("outside work holds no place in the writer: other events are handled meanwhile", () => {
  const { step, preparing } = heldStep();
  return withReceiver(
    "sqlite",
    async ({ send }) => {
      const prepared = send(event("prepare", {}));
      await until(() => step.begun);
      expect((await send(payment())).status).toBe(200);
      step.end.resolve();
      expect((await prepared).status).toBe(200);
    },
    { handlers: [preparing] },
  );
});

it("a handler's signal aborts when its time limit is over", () => {
  let told = false;
  const waiting = defineHandler({
    type: "wait",
    data: z.object({}),
    handle: ({ signal }) =>
      new Promise<object>((resolve) => {
        signal.addEventListener("abort", () => {
          told = true;
          resolve({});
        });
      }) as Promise<never>,
  });
  return withReceiver(
    "sqlite",
    async ({ send }) => {
      expect((await send(event("wait", {}))).status).toBe(500);
      expect(told).toBe(true);
    },
    { handlers: [waiting], env: { HANDLER_TIMEOUT_MS: "50" } },
  );
});
