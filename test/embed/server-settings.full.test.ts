import { createServer, type Server, type ServerOptions } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { toNodeHandler } from "../../src/embed/index.ts";
import { CALLBACK_PATH, withApplication } from "../support/application.ts";
import { withDatabase } from "../support/databases.ts";
import { closeConnections, connectFrom, type RawConnection } from "../support/raw-connection.ts";
import type { TestReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

interface Scene {
  connect(sent?: string): Promise<RawConnection>;
}

/** Lends an application whose server has these settings, with a receiver and a large page beside it. */
function withServer(
  options: ServerOptions,
  settings: Partial<Pick<Server, "timeout" | "maxConnections" | "maxRequestsPerSocket">>,
  use: (scene: Scene) => Promise<void>,
): Promise<void> {
  const page = "x".repeat(8_000_000);
  return withDatabase("sqlite", (target) =>
    withApplication(target, async ({ receiver }) => {
      const handle = toNodeHandler(receiver);
      const server = Object.assign(
        createServer(options, (request, response) => handle(request, response, () => void response.end(page))),
        settings,
      );
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const publicOrigin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      try {
        await use({ connect: (sent) => connectFrom({ publicOrigin } as TestReceiver, "127.0.0.1", sent) });
      } finally {
        server.closeAllConnections();
        await new Promise((resolve) => void server.close(resolve));
      }
    }),
  );
}

afterEach(closeConnections);

/** What docs/embedding.md says of an application's server. */
describe("the settings of http.Server", () => {
  it("requestTimeout ends a request whose head does not end, as often as connectionsCheckingInterval says", () =>
    withServer({ requestTimeout: 300, connectionsCheckingInterval: 50 }, {}, async ({ connect }) => {
      const slow = await connect(`POST ${CALLBACK_PATH} HTTP/1.1\r\nHost: a\r\nX-Slow: `);
      await until(() => slow.isClosed, 3_000);
      expect(slow.text).toMatch(/^HTTP\/1\.1 408 /);
    }));

  it("timeout ends a connection whose client does not read", () =>
    withServer({}, { timeout: 300 }, async ({ connect }) => {
      const reader = await connect();
      reader.socket.pause();
      reader.socket.write("GET /page HTTP/1.1\r\nHost: a\r\n\r\n".repeat(4));
      // Only a read shows the end of the connection.
      await new Promise((resolve) => void setTimeout(resolve, 1_000));
      reader.socket.resume();
      await until(() => reader.isClosed, 3_000);
      expect(reader.text.length).toBeLessThan(4 * 8_000_000);
    }));

  it("maxRequestsPerSocket returns 503 for requests that are pipelined beyond it", () =>
    withServer({}, { maxRequestsPerSocket: 2 }, async ({ connect }) => {
      const pipelined = await connect(`GET ${CALLBACK_PATH} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(4));
      const statuses = () => [...pipelined.text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
      await until(() => statuses().length === 4);
      expect(statuses()).toEqual(["405", "405", "503", "503"]);
    }));

  it("maxConnections closes connections beyond it", () =>
    withServer({}, { maxConnections: 2 }, async ({ connect }) => {
      const connections = [await connect(), await connect(), await connect()];
      await until(() => connections.some(({ isClosed }) => isClosed), 3_000);
      expect(connections.map(({ isClosed }) => isClosed)).toEqual([false, false, true]);
    }));
});
