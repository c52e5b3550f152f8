import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import type { CaptureLine } from "../../src/dev/listen/index.ts";
import { captureRoute } from "../../src/receive/capture-route.ts";
import { recordedLog } from "../observability/recorded-log.ts";
import { withHttpServer } from "../support/http-server.ts";
import { nodeExchange } from "../support/node-exchange.ts";
import { TOKEN, withReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const LISTEN = { env: { CAPTURE: "on" } };
const GONE = "a listener has gone";
const MAX_LINES = 64;
const LONG = "x".repeat(1_000_000);

describe("the stream to a listener", () => {
  it("a stream asks proxies not to buffer it, and its start and end are logged with the listener's address", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const leaving = new AbortController();
        const { headers, body } = await fetch(`${receiver.publicOrigin}/_oncehook/captured`, {
          headers: { authorization: `Bearer ${TOKEN}` },
          signal: leaving.signal,
        });
        expect(headers.get("x-accel-buffering")).toBe("no");
        await body?.getReader().read();
        const said = () => receiver.lines.filter(({ msg }) => String(msg).startsWith("a listener has"));
        expect(said()).toMatchObject([{ address: "127.0.0.1", msg: expect.stringContaining("connected") }]);
        leaving.abort();
        await until(() => said().length === 2);
        expect(said()[1]).toMatchObject({ address: "127.0.0.1", msg: GONE });
      },
      LISTEN,
    ));

  it("a stream to a client that has left before it begins reads nothing and ends", async () => {
    const follow = () => expect.unreachable("nothing is read for a client that has left");
    const buffer = { follow, ended: new AbortController().signal } as never;
    const log = recordedLog();
    const route = captureRoute({ buffer, checkToken: () => ({ result: "right" }) }, log);
    const streamed = Promise.withResolvers<void>();
    await withHttpServer(
      (message, response) => {
        const request = { exchange: nodeExchange(message, response), responseHeaders: {} } as never;
        response.once("close", () => streamed.resolve(route(request)));
        message.socket.destroy();
      },
      async (origin) => {
        await fetch(origin, { headers: { authorization: "Bearer token" } }).catch(() => {});
        await streamed.promise;
      },
    );
    expect(log.lines.map(({ message }) => message)).toEqual([expect.stringContaining("connected"), GONE]);
  });

  it("a stream waits for a listener that reads nothing, and holds no more for it than its connection takes", async () => {
    let pulled = 0;
    async function* follow(): AsyncGenerator<CaptureLine, void, void> {
      while (pulled < MAX_LINES) {
        pulled += 1;
        yield { line: "unreadable", at: LONG };
      }
    }
    const ended = new AbortController();
    const buffer = { follow, ended: ended.signal } as never;
    const log = recordedLog();
    const route = captureRoute({ buffer, checkToken: () => ({ result: "right" }) }, log);
    await withHttpServer(
      (message, response) => void route({ exchange: nodeExchange(message, response), responseHeaders: {} } as never),
      async (origin) => {
        const listener = connect(Number(new URL(origin).port), "127.0.0.1").pause();
        listener.write("GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer token\r\n\r\n");
        await once(listener, "connect");
        await until(() => pulled > 0);
        // What both sides of the connection buffer is filled by then, and no more is asked for.
        let before = 0;
        await until(() => {
          const isStill = pulled === before;
          before = pulled;
          return isStill;
        });
        expect(pulled).toBeLessThan(MAX_LINES / 2);
        listener.destroy();
        await until(() => log.lines.some(({ message }) => message === GONE));
      },
    );
  });
});
