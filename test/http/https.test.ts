import { once } from "node:events";
import { utimesSync, writeFileSync } from "node:fs";
import { rm, utimes, writeFile } from "node:fs/promises";
import { IncomingMessage } from "node:http";
import https from "node:https";
import { connect, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { describe, expect, it } from "vitest";
import { createReadOrigin } from "../../src/http/exchange/read-origin.ts";
import { readTlsPair, reloadOnChange } from "../../src/http/tls.ts";
import { signHmac } from "../../src/index.ts";
import { certificate, type Pair } from "../support/certificate.ts";
import { payment, SECRET, withReceiver } from "../support/receiver.ts";
import { withFiles } from "../support/tls-files.ts";
import { until } from "../support/until.ts";

interface Seen {
  readonly status: number | undefined;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly name: string;
}

function request(url: string, options: https.RequestOptions, body = ""): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const sent = https.request(url, { rejectUnauthorized: false, ...options }, (response) => {
      const name = String((response.socket as TLSSocket).getPeerCertificate().subject?.CN);
      response.resume();
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, name }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

describe("HTTPS", () => {
  it("the receiver serves HTTPS from the certificate files, with HSTS", async () => {
    await withFiles(await certificate("first"), (files) =>
      withReceiver(
        "sqlite",
        async (receiver) => {
          const body = JSON.stringify(payment());
          const headers = {
            "x-signature": signHmac(SECRET, Buffer.from(body)),
            "x-event-type": "payment_notify",
          };
          const url = `${receiver.publicOrigin}/api/platform/callback`;
          const response = await request(url, { method: "POST", headers }, body);
          expect(receiver.publicOrigin).toMatch(/^https:/);
          expect([response.status, response.name]).toEqual([200, "first"]);
          expect(response.headers["strict-transport-security"]).toBe("max-age=31536000");
        },
        { env: { TLS_CERT_FILE: files.certFile, TLS_KEY_FILE: files.keyFile, HOST: "127.0.0.1" } },
      ),
    );
  });

  /**
   * A server with a pair of certificate and key that it looks at every 20 ms, and what it logs of that.
   * @param renew runs between the reading of the files and the first look at them
   */
  const withReloading = (
    pair: Pair,
    use: (opened: {
      files: { certFile: string; keyFile: string };
      url: string;
      warnings: unknown[];
      reloads: unknown[];
      stop: () => Promise<void>;
    }) => Promise<void>,
    renew: (files: { certFile: string; keyFile: string }) => Promise<void> = async () => {},
  ): Promise<void> =>
    withFiles(pair, async (files) => {
      const loaded = await readTlsPair(files);
      await renew(files);
      const server = https.createServer(pair, (_request, response) => response.end("ok"));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const warnings: unknown[] = [];
      const reloads: unknown[] = [];
      const log = {
        debug() {},
        info: (fields: object) => void reloads.push(fields),
        error() {},
        warn: (fields: object) => void warnings.push(fields),
      };
      const stop = reloadOnChange(loaded, server, log, 20);
      const url = `https://127.0.0.1:${(server.address() as { port: number }).port}/`;
      try {
        await use({ files, url, warnings, reloads, stop });
      } finally {
        await stop();
        server.close();
      }
    });

  it("the listener takes a renewed certificate into use without dropping open connections, and keeps the old one while the new does not fit", async () => {
    const [first, second] = [await certificate("first"), await certificate("second")];
    await withReloading(first, async ({ files, url, warnings, reloads, stop }) => {
      const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
      try {
        expect((await request(url, { agent })).name).toBe("first");
        await writeFile(files.certFile, second.cert);
        await utimes(files.certFile, new Date(), new Date(Date.now() + 1_000));
        await until(() => warnings.length > 0);
        expect((await request(url, { agent: false })).name).toBe("first");
        await writeFile(files.keyFile, second.key);
        await until(async () => (await request(url, { agent: false })).name === "second");
        expect((await request(url, { agent })).name).toBe("first");
        // A look in the middle of the writing may have told of it by itself.
        await new Promise((resolve) => setTimeout(resolve, 100));
        const [looks, told] = [warnings.length, reloads.length];
        await new Promise((resolve) => setTimeout(resolve, 100));
        await rm(files.certFile);
        await until(() => warnings.length > looks);
        // Each look at files that have not changed is silent.
        expect(told).toBeGreaterThanOrEqual(1);
        expect(reloads.length).toBe(told);
        await stop();
        const last = warnings.length;
        await new Promise((resolve) => setTimeout(resolve, 100));
        expect(warnings.length - last).toBeLessThanOrEqual(1);
      } finally {
        agent.destroy();
      }
    });
  });

  it("a certificate that is renewed between its reading and the first look is taken into use", async () => {
    const [first, second] = [await certificate("first"), await certificate("second")];
    await withReloading(
      first,
      async ({ url, reloads }) => {
        await until(async () => (await request(url, { agent: false })).name === "second");
        expect(reloads).toHaveLength(1);
      },
      async ({ certFile, keyFile }) => {
        await writeFile(certFile, second.cert);
        await writeFile(keyFile, second.key);
      },
    );
  });

  it("the listener looks again at a renewed certificate that it could not use, also where nothing about the files has changed", async () => {
    const [first, second] = [await certificate("first"), await certificate("second")];
    await withReloading(first, async ({ files, url, warnings }) => {
      const renewedAt = new Date(Date.now() + 60_000);
      const write = (cert: string | Buffer) => {
        writeFileSync(files.certFile, cert);
        utimesSync(files.certFile, renewedAt, renewedAt);
      };
      writeFileSync(files.keyFile, second.key);
      write(Buffer.alloc(Buffer.byteLength(second.cert), "x"));
      await until(() => warnings.length > 1);
      write(second.cert);
      await until(async () => (await request(url, { agent: false })).name === "second");
      expect(warnings.length).toBeGreaterThan(1);
    });
  });

  it("a silent connection is closed after the time limit of a request's head", { tags: "full" }, async () => {
    await withFiles(await certificate("silent"), (files) =>
      withReceiver(
        "sqlite",
        async ({ publicOrigin }) => {
          const silent = connect(Number(new URL(publicOrigin).port), "127.0.0.1").resume();
          silent.on("error", () => {});
          await once(silent, "close", { signal: AbortSignal.timeout(10_000) });
          expect(silent.bytesRead).toBe(0);
        },
        {
          env: {
            TLS_CERT_FILE: files.certFile,
            TLS_KEY_FILE: files.keyFile,
            HOST: "127.0.0.1",
            REQUEST_TIMEOUT_MS: "300",
            HANDLER_TIMEOUT_MS: "200",
          },
        },
      ),
    );
  });

  it("the receiver does not start with the key of another certificate", async () => {
    const [first, second] = [await certificate("first"), await certificate("second")];
    await withFiles({ cert: first.cert, key: second.key }, async (files) => {
      const env = { TLS_CERT_FILE: files.certFile, TLS_KEY_FILE: files.keyFile };
      await expect(withReceiver("sqlite", async () => {}, { env })).rejects.toThrow(
        /^TLS_KEY_FILE: got "\S+", which is not the key of the certificate in "\S+" \(TLS_CERT_FILE\): /,
      );
    });
  });

  it("the receiver does not start on files that are no certificate and key", async () => {
    await withFiles({ cert: "nonsense", key: "nonsense" }, async (files) => {
      const env = { TLS_CERT_FILE: files.certFile, TLS_KEY_FILE: files.keyFile };
      await expect(withReceiver("sqlite", async () => {}, { env })).rejects.toThrow(
        /^TLS_CERT_FILE: got "\S+", which is not a certificate in PEM: /,
      );
    });
  });
});

describe("behind a proxy", () => {
  const proxied = (env: Record<string, string>) => ({ env: { HOST: "127.0.0.1", ...env } });

  it("the receiver takes X-Forwarded-Proto and X-Forwarded-For from a trusted proxy", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const headers = { "x-forwarded-proto": "https", "x-forwarded-for": "198.51.100.9, 203.0.113.7" };
        const sent = payment();
        expect((await receiver.send(sent, { headers })).status).toBe(200);
        const { body } = await receiver.admin(`/api/v1/callbacks?event_id=${sent.event_id}`);
        expect(body.items).toMatchObject([{ remote_address: "203.0.113.7" }]);
      },
      proxied({ TRUST_PROXY: "127.0.0.0/8" }),
    ));

  it("a request that the proxy received over plain HTTP is refused", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const plain = await receiver.send(payment(), { headers: { "x-forwarded-proto": "http" } });
        expect([plain.status, plain.body]).toEqual([403, { error: "HTTPS required" }]);
        expect((await receiver.send(payment())).status).toBe(403);
      },
      proxied({ TRUST_PROXY: "127.0.0.1" }),
    ));

  it("plain HTTP is refused with the rate limits that are on by default", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const plain = await receiver.send(payment(), { headers: { "x-forwarded-proto": "http" } });
        expect([plain.status, plain.body]).toEqual([403, { error: "HTTPS required" }]);
        expect(plain.headers.get("ratelimit-policy")).toBe('"default";q=100;w=3600, "callback";q=10;w=60');
        expect((await receiver.send(payment(), { headers: { "x-forwarded-proto": "https" } })).status).toBe(200);
      },
      // Empty means the default.
      proxied({ TRUST_PROXY: "127.0.0.1", RATE_LIMIT_DEFAULT: "", RATE_LIMIT_CALLBACK: "" }),
    ));

  it("the last value of X-Forwarded-Proto counts, which the nearest proxy has added", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const statusWith = async (proto: string) =>
          (await receiver.send(payment(), { headers: { "x-forwarded-proto": proto } })).status;
        expect([await statusWith("https, http"), await statusWith("http, https")]).toEqual([403, 200]);
      },
      proxied({ TRUST_PROXY: "127.0.0.1" }),
    ));

  it("forwarded headers from an address outside TRUST_PROXY are ignored", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const headers = { "x-forwarded-proto": "https", "x-forwarded-for": "203.0.113.7" };
        expect((await receiver.send(payment(), { headers })).status).toBe(403);
      },
      proxied({ TRUST_PROXY: "10.0.0.0/8" }),
    ));

  it("all addresses of an IPv6 /64 count as one, with a port written behind them or without", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const statusFrom = async (address: string) => {
          const headers = { "x-forwarded-proto": "https", "x-forwarded-for": address };
          return (await receiver.send(payment(), { headers })).status;
        };
        expect(await statusFrom("2001:db8::1")).toBe(200);
        expect(await statusFrom("[2001:db8::2]:4000")).toBe(429);
        expect(await statusFrom("2001:db8:0:1::1")).toBe(200);
        const { body } = await receiver.admin("/api/v1/callbacks?outcome=too_many_requests");
        expect(body.items).toMatchObject([{ remote_address: "2001:db8::2" }]);
      },
      proxied({ TRUST_PROXY: "127.0.0.1", RATE_LIMIT_CALLBACK: "1/minute" }),
    ));

  it.each([
    ["without a proxy", []],
    ["behind a trusted proxy", ["192.0.2.0/24"]],
  ])("the remote address of a connection that was reset is empty %s", (_where, trustProxy) => {
    const message = new IncomingMessage(new Socket());
    message.headers["x-forwarded-for"] = "198.51.100.7";
    expect(createReadOrigin(trustProxy)(message)).toEqual({ address: "", protocol: "http" });
  });
});
