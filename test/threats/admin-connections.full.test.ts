import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { payment, withReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const MOST = 512;

/** Connections that have sent something, and send nothing more. */
async function openMany(origin: string, count: number, text: string): Promise<Socket[]> {
  const { hostname, port } = new URL(origin);
  const sockets = Array.from({ length: count }, () => connect(Number(port), hostname));
  for (const socket of sockets) socket.on("error", () => {}).resume();
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  for (const socket of sockets) if (text !== "") socket.write(text);
  return sockets;
}

const withBody = (path: string) =>
  `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`;

describe("connections to the admin listener", () => {
  it("an admin connection without a whole request is closed within a minute", { timeout: 120_000 }, () =>
    withReceiver("sqlite", async ({ adminOrigin }) => {
      const begun = [
        withBody("/api/v1/session"),
        // One that is answered before its body has come.
        withBody("/api/v1/bulk-replays"),
        "GET /healthz HTTP/1.1\r\nHost:",
        "",
      ];
      const sockets = (await Promise.all(begun.map((text) => openMany(adminOrigin, 20, text)))).flat();
      try {
        await until(() => sockets.every(({ closed }) => closed), 60_000);
        expect(sockets.map(({ bytesRead }) => bytesRead > 0)).toContain(true);
      } finally {
        for (const socket of sockets) socket.destroy();
      }
    }),
  );

  it(
    "silent admin connections lock no operator out, because the longest idle one is closed, and callbacks go on",
    {
      timeout: 120_000,
    },
    () =>
      withReceiver("sqlite", async (receiver) => {
        const sockets = await openMany(receiver.adminOrigin, MOST, "");
        try {
          const { status } = await fetch(`${receiver.adminOrigin}/healthz`);
          expect(status).toBe(200);
          await until(() => sockets.filter(({ closed }) => closed).length === 1);
          expect((await receiver.send(payment())).status).toBe(200);
        } finally {
          for (const socket of sockets) socket.destroy();
        }
      }),
  );
});
