import { once } from "node:events";
import { createServer, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { createReceiver, type Receiver, toNodeHandler } from "../../src/embed/index.ts";
import { defineHandler } from "../../src/handlers/index.ts";
import { stripe } from "../../src/sources/platforms/index.ts";
import {
  CALLBACK_PATH,
  paid,
  requestOf,
  STRIPE_SECRET,
  stripeCallback,
  VARIABLES,
  withApplication,
} from "../support/application.ts";
import { withDatabase } from "../support/databases.ts";
import { withListening } from "../support/listening-server.ts";
import type { Target } from "../support/open-target.ts";
import { until } from "../support/until.ts";

const onSqlite = (use: (target: Target) => Promise<void>) => withDatabase("sqlite", use);

describe("a receiver in a careless application", () => {
  it("an application's logger that throws fails no callback, and its lines go to standard output", () =>
    onSqlite(async (target) => {
      const fails = () => {
        throw new Error("the transport is closed");
      };
      const logger = { debug: fails, info: fails, warn: fails, error: fails };
      const printed = vi.spyOn(process.stdout, "write").mockReturnValue(true);
      try {
        const use = async ({ receiver }: { receiver: Receiver }) => {
          const forged = stripeCallback("evt_forged", "whsec_of_another_application");
          expect((await receiver.fetch(requestOf(forged))).status).toBe(401);
          expect((await receiver.fetch(requestOf(stripeCallback()))).status).toBe(200);
          await receiver.flush();
        };
        const variables = { ...VARIABLES, LOG_LEVEL: "info" };
        await withApplication(target, use, { logger, variables });
        expect(printed.mock.calls.join("\n")).toMatch(/signature_mismatch/);
      } finally {
        printed.mockRestore();
      }
    }));

  it("options of a wrong kind are refused at once, each by its name", () => {
    const logger = { debug() {}, info() {} };
    const options = { database: "sqlite:x.db", variables: VARIABLES, background: "loop", logger, admin: {} };
    const create = () => createReceiver({ sources: { billing: stripe({ secret: STRIPE_SECRET }) } }, options as never);
    expect(create).toThrow(/background: got "loop", expected "loops" or "none"/);
    expect(create).toThrow(/logger: has no method warn, error/);
    expect(create).toThrow(/admin: has no function authorize/);
  });

  it("a waitUntil that throws leaves the response as it is, and the log says so", () =>
    onSqlite((target) =>
      withApplication(target, async ({ receiver, lines }) => {
        const waitUntil = () => {
          throw new Error("outside of a request");
        };
        expect((await receiver.fetch(requestOf(stripeCallback()), { waitUntil })).status).toBe(200);
        expect(lines).toContainEqual(expect.objectContaining({ msg: expect.stringMatching(/^waitUntil failed/) }));
      }),
    ));

  it.each([
    ["in pieces", {}],
    ["of an announced length", { "content-length": "300" }],
  ])("a Request whose body another reader has taken is answered 500, and the log says so: %s", (_form, announced) =>
    onSqlite((target) =>
      withApplication(target, async ({ receiver, lines }) => {
        const { headers, ...callback } = stripeCallback();
        const taken = requestOf({ ...callback, headers: { ...headers, ...announced } });
        taken.body?.getReader();
        expect((await receiver.fetch(taken)).status).toBe(500);
        expect(lines).toContainEqual(expect.objectContaining({ msg: expect.stringMatching(/was read before/) }));
      }),
    ),
  );

  it("a clientAddress that throws concerns no other address, and leaves the client's address unknown", () =>
    onSqlite((target) =>
      withApplication(target, async ({ receiver }) => {
        const clientAddress = () => {
          throw new Error("no such header");
        };
        const handler = toNodeHandler(receiver, { clientAddress });
        await withListening(createServer(handler), async (port) => {
          expect((await fetch(`http://127.0.0.1:${port}/orders`)).status).toBe(404);
          const { body, headers } = stripeCallback();
          const url = `http://127.0.0.1:${port}${CALLBACK_PATH}`;
          expect((await fetch(url, { method: "POST", body, headers })).status).toBe(200);
        });
      }),
    ));

  it("close() waits for a body that is still arriving, and its event is handled", () =>
    onSqlite((target) =>
      withApplication(target, async ({ receiver }) => {
        await withListening(createServer(toNodeHandler(receiver)), async (port) => {
          await receiver.ready();
          const { body, headers } = stripeCallback();
          const length = Buffer.byteLength(body);
          const options = { port, host: "127.0.0.1", path: CALLBACK_PATH, method: "POST" };
          const sending = request({ ...options, headers: { ...headers, "content-length": length } });
          const responded = once(sending, "response");
          sending.write(body.slice(0, 20));
          await until(async () => {
            // What another request gets says that the server reads.
            await fetch(`http://127.0.0.1:${port}/orders`);
            return sending.socket?.bytesWritten !== undefined && sending.socket.bytesWritten > 20;
          });
          const closing = receiver.close();
          // A close that does not wait for it is over by then.
          await Promise.race([closing, sleep(300)]);
          sending.end(body.slice(20));
          const [response] = await responded;
          response.resume();
          expect(response.statusCode).toBe(200);
          await closing;
        });
      }),
    ));

  it("an accepted event runs behind its own response, although other callbacks are always under way", () =>
    onSqlite((target) => {
      const runs: string[] = [];
      const isOver = Promise.withResolvers<void>();
      const isBusy = Promise.withResolvers<void>();
      const busy = defineHandler({
        source: "busy",
        type: "invoice.paid",
        async prepare() {
          isBusy.resolve();
          await isOver.promise;
          return null;
        },
        handle: () => ({}),
      });
      const sources = {
        billing: stripe({ secret: STRIPE_SECRET, answer: "after" }),
        busy: stripe({ secret: STRIPE_SECRET }),
      };
      const use = async ({ receiver }: { receiver: Receiver }) => {
        const { body, headers } = stripeCallback();
        const url = "https://app.example/api/busy/callback";
        const underWay = receiver.fetch(new Request(url, { method: "POST", body, headers }));
        await isBusy.promise;
        const waited: Promise<unknown>[] = [];
        await receiver.fetch(requestOf(stripeCallback()), { waitUntil: (promise) => void waited.push(promise) });
        // Before the other one has reached its time limit.
        await until(() => runs.length === 1, 8_000);
        isOver.resolve();
        expect((await underWay).status).toBe(200);
        await Promise.all(waited);
      };
      const file = { sources, handlers: [busy, paid((id) => runs.push(id))] };
      return withApplication(target, use, { background: "none", file });
    }));
});
