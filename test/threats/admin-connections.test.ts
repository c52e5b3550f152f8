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
  it.each([
    ["that send one byte of a body", withBody("/api/v1/session")],
    ["that send one byte of a body, where they may do nothing", withBody("/api/v1/bulk-replays")],
    ["that send half of a head", "GET /healthz HTTP/1.1\r\nHost:"],
    ["that send nothing", ""],
  ])("%s are closed within a minute", { timeout: 120_000 }, (_title, text) =>
    withReceiver("sqlite", async ({ adminOrigin }) => {
      const sockets = await openMany(adminOrigin, 20, text);
      try {
        await until(() => sockets.every(({ closed }) => closed), 60_000);
      } finally {
        for (const socket of sockets) socket.destroy();
      }
    }),
  );

  it(
    "are so many at once: one more is closed, callbacks go on, and another one has its place when one has gone",
    {
      timeout: 120_000,
    },
    () =>
      withReceiver("sqlite", async (receiver) => {
        const sockets = await openMany(receiver.adminOrigin, MOST, "");
        try {
          const [refused] = await openMany(receiver.adminOrigin, 1, "");
          await until(() => refused?.closed === true);
          expect(sockets.filter(({ closed }) => closed)).toEqual([]);
          expect((await receiver.send(payment())).status).toBe(200);
          for (const socket of sockets.slice(0, 5)) socket.destroy();
          await until(() =>
            fetch(`${receiver.adminOrigin}/healthz`).then(
              ({ status }) => status === 200,
              () => false,
            ),
          );
        } finally {
          for (const socket of sockets) socket.destroy();
        }
      }),
  );
});
