import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { type CertificateOptions, certificate } from "./certificate.ts";

/** Lends a plain HTTP server, on a free port where none is named. */
export async function withHttpServer<T>(
  answer: RequestListener,
  use: (origin: string) => Promise<T>,
  port = 0,
): Promise<T> {
  return lend(createServer(answer), (given) => use(`http://127.0.0.1:${given}`), port);
}

/**
 * The same over TLS; its certificate is believed by this process while it is lent, unless that is not wanted. Servers
 * that are lent at the same time need names of their own.
 */
export async function withHttpsServer<T>(
  answer: RequestListener,
  use: (origin: string) => Promise<T>,
  {
    isBelieved = true,
    commonName = "a test's server",
    ...options
  }: CertificateOptions & { readonly isBelieved?: boolean; readonly commonName?: string } = {},
): Promise<T> {
  const pair = await certificate(commonName, options);
  const before = getCACertificates("default");
  if (isBelieved) setDefaultCACertificates([...before, pair.cert]);
  try {
    return await lend(createHttpsServer(pair, answer), (port) => use(`https://127.0.0.1:${port}`));
  } finally {
    setDefaultCACertificates(before);
  }
}

async function lend<T>(server: Server, use: (port: number) => Promise<T>, port = 0): Promise<T> {
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  try {
    return await use((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}
