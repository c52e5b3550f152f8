import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { describe, expect, it } from "vitest";
import { certificate } from "../support/certificate.ts";
import { closeConnections, connectFrom, type RawConnection, unfinished } from "../support/raw-connection.ts";
import { payment, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { withFiles } from "../support/tls-files.ts";
import { until } from "../support/until.ts";

/** A connection over which a request has begun, whose body does not come. */
async function waitingForBody(receiver: TestReceiver, address: string): Promise<RawConnection> {
  const head = "POST /api/platform/callback HTTP/1.1\r\nHost: x\r\n";
  const one = await connectFrom(receiver, address, `${head}Expect: 100-continue\r\nContent-Length: 100\r\n\r\n`);
  await until(() => one.text.includes("100 Continue"));
  return one;
}

/** A TLS connection to a receiver with a certificate of its own. */
async function secured({ publicOrigin }: TestReceiver): Promise<TLSSocket> {
  const port = Number(new URL(publicOrigin).port);
  const client = connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false });
  client.on("error", () => {});
  await once(client, "secureConnect");
  return client;
}

/** Stops the receiver, which takes four seconds at most. */
async function stopSoon(receiver: TestReceiver): Promise<void> {
  const stopped = receiver.stop().then(() => "stopped");
  expect(await Promise.race([stopped, sleep(4_000, "late", { ref: false })])).toBe("stopped");
}

describe("connections to the public listener", () => {
  const limits = { MAX_CONNECTIONS: "12", MAX_CONNECTIONS_PER_ADDRESS: "6" };
  const bounded = (use: (receiver: TestReceiver) => Promise<void>, env: Record<string, string> = {}) =>
    withReceiver("sqlite", (receiver) => use(receiver).finally(closeConnections), {
      env: { ...limits, ...env },
    });

  it("the longest idle connection is closed past the bounds, so that silent ones lock no client out", () =>
    bounded(async (receiver) => {
      const silent: RawConnection[] = [];
      for (let at = 0; at < 8; at += 1) silent.push(await connectFrom(receiver, "127.0.4.1"));
      await until(() => silent.filter(({ isClosed }) => isClosed).length === 2);
      expect(silent.slice(0, 2).every(({ isClosed }) => isClosed)).toBe(true);
      for (let at = 1; at <= 20; at += 1) silent.push(await connectFrom(receiver, `127.0.5.${at}`));
      const busy = await connectFrom(receiver, "127.0.6.1", unfinished(10, 100));
      for (let at = 1; at <= 20; at += 1) silent.push(await connectFrom(receiver, `127.0.7.${at}`));
      expect((await receiver.send(payment())).status).toBe(200);
      await until(() => silent.filter(({ isClosed }) => !isClosed).length <= 12);
      expect(busy.isClosed).toBe(false);
    }));

  it("connections past MAX_CONNECTIONS close an idle one of the address with the most", () =>
    bounded(async (receiver) => {
      const first = await connectFrom(receiver, "127.0.12.1");
      const most: RawConnection[] = [];
      for (let at = 0; at < 5; at += 1) most.push(await connectFrom(receiver, "127.0.12.2"));
      const others: RawConnection[] = [];
      for (let at = 3; at <= 9; at += 1) others.push(await connectFrom(receiver, `127.0.12.${at}`));
      await until(() => [first, ...most, ...others].some(({ isClosed }) => isClosed));
      expect(most.map(({ isClosed }) => isClosed)).toEqual([true, false, false, false, false]);
    }));

  it("the connection with the oldest unfinished body is closed when all connections have unfinished bodies", () =>
    bounded(async (receiver) => {
      const slow: RawConnection[] = [];
      for (let at = 1; at <= 14; at += 1) slow.push(await waitingForBody(receiver, `127.0.8.${at}`));
      await until(() => slow.filter(({ isClosed }) => isClosed).length === 2);
      for (const { text } of slow.slice(0, 2)) expect(text).toContain("HTTP/1.1 503 ");
      expect((await receiver.send(payment())).status).toBe(200);
    }));

  it("the oldest unfinished body of the address at its bound is closed, and no older one of another address", () =>
    bounded(async (receiver) => {
      const other = await waitingForBody(receiver, "127.0.14.1");
      const slow: RawConnection[] = [];
      for (let at = 0; at < 7; at += 1) slow.push(await waitingForBody(receiver, "127.0.14.2"));
      await until(() => slow.some(({ isClosed }) => isClosed));
      expect(slow.map(({ isClosed }) => isClosed)).toEqual([true, ...Array(6).fill(false)]);
      expect(slow[0]?.text).toContain("HTTP/1.1 503 ");
      expect(other.isClosed).toBe(false);
    }));

  it("an idle connection is closed before one with an unfinished body, even of the address with the most connections", () =>
    bounded(async (receiver) => {
      const busy: RawConnection[] = [];
      for (let at = 0; at < 6; at += 1) busy.push(await waitingForBody(receiver, "127.0.15.1"));
      const idle: RawConnection[] = [];
      for (let at = 2; at <= 8; at += 1) idle.push(await connectFrom(receiver, `127.0.15.${at}`));
      await until(() => [...busy, ...idle].some(({ isClosed }) => isClosed));
      expect(idle.filter(({ isClosed }) => isClosed)).toHaveLength(1);
      expect(busy.filter(({ isClosed }) => isClosed)).toEqual([]);
    }));

  it("a connection is idle again once its request is answered, and makes room for a new one", () =>
    bounded(async (receiver) => {
      const answered: RawConnection[] = [];
      for (let at = 0; at < 6; at += 1) {
        const one = await connectFrom(receiver, "127.0.16.1", "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n");
        await until(() => one.text.includes('{"error":"not found"}'));
        answered.push(one);
      }
      const next = await connectFrom(receiver, "127.0.16.1", "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n");
      await until(() => next.text.includes('{"error":"not found"}'));
      await until(() => answered.some(({ isClosed }) => isClosed));
      expect(answered.map(({ isClosed }) => isClosed)).toEqual([true, ...Array(5).fill(false)]);
    }));

  it("connections stay open while a later request over them is not answered yet", () =>
    bounded(async (receiver) => {
      const busy = await connectFrom(receiver, "127.0.17.1", "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n");
      await until(() => busy.text.includes('{"error":"not found"}'));
      busy.socket.write(unfinished(0, 100).replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n"));
      await until(() => busy.text.includes("100 Continue"));
      const idle: RawConnection[] = [];
      for (let at = 0; at < 6; at += 1) idle.push(await connectFrom(receiver, "127.0.17.1"));
      await until(() => [busy, ...idle].some(({ isClosed }) => isClosed));
      expect([busy, ...idle].map(({ isClosed }) => isClosed)).toEqual([false, true, ...Array(5).fill(false)]);
    }));

  it("connections closed past the bounds are counted in one warning, at the latest when the receiver stops", () =>
    bounded(async (receiver) => {
      const silent: RawConnection[] = [];
      for (let at = 0; at < 8; at += 1) silent.push(await connectFrom(receiver, "127.0.18.1"));
      for (let at = 1; at <= 7; at += 1) silent.push(await connectFrom(receiver, `127.0.19.${at}`));
      await until(() => silent.filter(({ isClosed }) => isClosed).length === 3);
      closeConnections();
      await receiver.stop();
      const warnings = receiver.lines.filter(({ msg }) => String(msg).includes("MAX_CONNECTIONS"));
      expect(warnings).toMatchObject([{ level: 40, closed: 3, max_connections: 12, max_connections_per_address: 6 }]);
    }));

  it("connections of a trusted proxy are bounded in total and not by its address", () =>
    bounded(
      async (receiver) => {
        const proxied: RawConnection[] = [];
        for (let at = 0; at < 10; at += 1) proxied.push(await connectFrom(receiver, "127.0.9.1"));
        await receiver.send(payment());
        expect(proxied.filter(({ isClosed }) => isClosed)).toEqual([]);
        const direct: RawConnection[] = [];
        for (let at = 0; at < 8; at += 1) direct.push(await connectFrom(receiver, "127.0.10.1"));
        await until(() => [...proxied, ...direct].filter(({ isClosed }) => !isClosed).length <= 12);
      },
      { TRUST_PROXY: "127.0.9.0/24", HOST: "127.0.0.1" },
    ));

  it("connections count before the TLS handshake, and until the connection is closed", async () => {
    await withFiles(await certificate("bounded"), ({ certFile, keyFile }) =>
      bounded(
        async (receiver) => {
          const silent: RawConnection[] = [];
          for (let at = 0; at < 8; at += 1) silent.push(await connectFrom(receiver, "127.0.11.1"));
          await until(() => silent.filter(({ isClosed }) => isClosed).length === 2);
          for (let at = 0; at < 20; at += 1) {
            const client = await secured(receiver);
            client.end(`GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`).resume();
            await once(client, "close");
          }
          expect(silent.filter(({ isClosed }) => isClosed)).toHaveLength(2);
        },
        { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile, HOST: "127.0.0.1" },
      ),
    );
  });

  it("connections stay open over TLS while a request is under way, though they are the oldest of their address", async () => {
    await withFiles(await certificate("busy"), ({ certFile, keyFile }) =>
      bounded(
        async (receiver) => {
          const client = await secured(receiver);
          let text = "";
          client.on("data", (chunk) => (text += chunk));
          client.write(unfinished(0, 2).replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n"));
          await until(() => text.includes("100 Continue"));
          const silent: RawConnection[] = [];
          for (let at = 0; at < 7; at += 1) silent.push(await connectFrom(receiver, "127.0.0.1"));
          await until(() => client.destroyed || silent.filter(({ isClosed }) => isClosed).length === 2);
          expect(client.destroyed).toBe(false);
          client.end("{}");
          await once(client, "close");
          expect(text).toContain("HTTP/1.1 401 ");
          const gone = await secured(receiver);
          gone.write(unfinished(0, 2));
          await until(() => silent.filter(({ isClosed }) => isClosed).length === 2);
          gone.destroy();
          for (let at = 0; at < 3; at += 1) silent.push(await connectFrom(receiver, "127.0.0.1"));
          await until(() => silent.filter(({ isClosed }) => isClosed).length === 4);
        },
        { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile, HOST: "127.0.0.1" },
      ),
    );
  });

  /** The time that a stop leaves a request to arrive is no longer than that of any request. */
  const brief = { REQUEST_TIMEOUT_MS: "300", HANDLER_TIMEOUT_MS: "200" };

  it("a stop closes silent connections, and those with a part of a head or of a body", () =>
    bounded(async (receiver) => {
      const admin = { ...receiver, publicOrigin: receiver.adminOrigin };
      const connections = [
        await connectFrom(admin, "127.0.0.1"),
        await connectFrom(receiver, "127.0.20.1"),
        await connectFrom(receiver, "127.0.20.1", "POST /api/platform/callback HTTP/1.1\r\nHo"),
        await waitingForBody(receiver, "127.0.20.1"),
      ];
      await stopSoon(receiver);
      await until(() => connections.every(({ isClosed }) => isClosed));
      expect(connections.at(-1)?.text).toContain("HTTP/1.1 503 ");
    }, brief));

  it("a stop closes TLS connections without a request, and those with a part of a handshake", async () => {
    await withFiles(await certificate("stopped"), ({ certFile, keyFile }) =>
      bounded(
        async (receiver) => {
          const silent = await connectFrom(receiver, "127.0.0.1");
          const client = await secured(receiver);
          const closed = once(client.resume(), "close");
          await stopSoon(receiver).finally(() => client.destroy());
          await closed;
          await until(() => silent.isClosed);
        },
        { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile, HOST: "127.0.0.1", ...brief },
      ),
    );
  });
});
