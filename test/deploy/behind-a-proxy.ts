import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { signHmac } from "../../src/index.ts";
import { certificate } from "../support/certificate.ts";
import { withDatabase } from "../support/databases.ts";
import { freePort } from "../support/free-port.ts";
import { SECRET, startReceiver, type TestReceiver } from "../support/receiver.ts";
import type { ProxyAddress } from "./proxy-client.ts";
import type { ProxyProcess } from "./proxy-process.ts";
import type { ProxyFiles } from "./start-nginx.ts";

export interface BehindAProxy extends ProxyAddress {
  readonly receiver: TestReceiver;
  readonly folder: string;
}

/** Lends a real receiver behind a real proxy, which ends TLS with a certificate of its own. */
export async function behindAProxy(
  start: (files: ProxyFiles) => Promise<ProxyProcess>,
  use: (proxied: BehindAProxy) => Promise<void>,
  more: Record<string, string> = {},
  options: Parameters<typeof startReceiver>[1] = {},
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-proxy-"));
  const { cert, key } = await certificate("localhost");
  await writeFile(join(folder, "cert.pem"), cert);
  await writeFile(join(folder, "key.pem"), key);
  const [httpPort, httpsPort] = [await freePort(), await freePort()];
  const env = { HOST: "127.0.0.1", TRUST_PROXY: "127.0.0.1", RATE_LIMIT_CALLBACK: "100000/minute", ...more };
  try {
    await withDatabase("sqlite", async (target) => {
      const receiver = await startReceiver(target, { ...options, env });
      const upstream = new URL(receiver.publicOrigin).host;
      let proxy: ProxyProcess | undefined;
      try {
        proxy = await start({ folder, httpPort, httpsPort, upstream });
        await use({ receiver, folder, httpPort, httpsPort, ca: cert });
      } finally {
        await proxy?.stop();
        await receiver.stop();
      }
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export const signature = (body: string | Uint8Array) => signHmac(SECRET, Buffer.from(body));
