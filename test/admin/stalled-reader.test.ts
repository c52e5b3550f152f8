import { once } from "node:events";
import { createServer, get, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { clientDisconnected } from "../../src/admin/export-routes.ts";

/** Far more than the system keeps for a reader. */
const MUCH = Buffer.alloc(32 * 1024 * 1024);

/** Lends a request to a server that answers by `answer`, and the signal that its reader has gone. */
async function withAnswer(
  longestUnreadMs: number,
  answer: (response: ServerResponse) => void,
  use: (response: import("node:http").IncomingMessage, gone: AbortSignal) => Promise<void>,
): Promise<void> {
  const signal = Promise.withResolvers<AbortSignal>();
  const server = createServer((_, response) => {
    signal.resolve(clientDisconnected(response, longestUnreadMs));
    answer(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const request = get({ port: (server.address() as AddressInfo).port });
    const [response] = await once(request, "response");
    response.on("error", () => {});
    await use(response, await signal.promise);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe("a reader of a long answer", () => {
  it("a reader that takes no bytes is cut off", () =>
    withAnswer(
      200,
      (response) => response.write(MUCH),
      async (response, gone) => {
        response.pause();
        await aborted(gone);
        expect(response.complete).toBe(false);
      },
    ));

  it("a reader is not cut off while there is nothing to read", () =>
    withAnswer(
      20,
      (response) => {
        response.write("first");
        let timeouts = 0;
        response.on("timeout", () => {
          timeouts += 1;
          if (timeouts === 3) response.end(" last");
        });
      },
      async (response, gone) => {
        expect(Buffer.concat(await response.toArray()).toString()).toBe("first last");
        await aborted(gone);
        expect(response.complete).toBe(true);
      },
    ));

  it("a reader that hangs up aborts the signal", () =>
    withAnswer(
      60_000,
      (response) => response.write("first"),
      async (response, gone) => {
        expect(gone.aborted).toBe(false);
        response.destroy();
        await aborted(gone);
      },
    ));
});

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}
