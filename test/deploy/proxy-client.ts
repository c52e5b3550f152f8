import { request } from "node:http";
import { request as secureRequest } from "node:https";
import { text } from "node:stream/consumers";
import { connect } from "node:tls";

export interface ProxyAddress {
  readonly httpsPort: number;
  readonly httpPort: number;
  /** The certificate that the proxy shows, which is its own authority. */
  readonly ca: string;
}

export interface Request {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: Uint8Array | string;
  /** The address of the loopback network from which it is sent. */
  readonly from?: string;
  readonly plain?: boolean;
  /** Sends the body in chunks, without its length. */
  readonly chunked?: boolean;
}

export interface Response {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
}

/** The platform's network in these tests is 127.0.0.0/29; this is another one. */
export const OTHER_ADDRESS = "127.0.0.9";
export const PLATFORM = "127.0.0.2";

/** One request on a connection of its own, its certificate checked. */
export async function ask(proxy: ProxyAddress, sent: Request): Promise<Response> {
  const { method = "POST", path = "/api/platform/callback", body, from = PLATFORM, plain = false } = sent;
  const length = body === undefined || sent.chunked ? {} : { "content-length": Buffer.byteLength(body) };
  const options = {
    host: "127.0.0.1",
    servername: "localhost",
    port: plain ? proxy.httpPort : proxy.httpsPort,
    method,
    path,
    headers: { host: "localhost", ...length, ...sent.headers },
    localAddress: from,
    agent: false,
    ca: proxy.ca,
  } as const;
  return new Promise((resolve, reject) => {
    const outgoing = plain ? request(options) : secureRequest(options);
    outgoing.on("error", reject);
    outgoing.on("response", (response) => {
      text(response).then(
        (all) => resolve({ status: response.statusCode ?? 0, headers: response.headers, text: all }),
        reject,
      );
    });
    // A proxy that closes on what it will not read resets the connection of a client that still sends.
    if (sent.headers?.expect === undefined) outgoing.end(body);
    else outgoing.once("continue", () => outgoing.end(body)).flushHeaders();
  });
}

/** A server that answers nothing for so long waits for more, and is told that there is no more. */
const SILENCE_MS = 1_000;
/** For what closes the connection after its answer, however slow the machine is. */
export const PATIENT_MS = 20_000;

/** Sends bytes over TLS and returns everything that comes back until the connection is closed. */
export async function exchange(
  { httpsPort, ca }: ProxyAddress,
  bytes: string,
  silenceMs = SILENCE_MS,
): Promise<string> {
  const options = { host: "127.0.0.1", servername: "localhost", port: httpsPort, ca, localAddress: PLATFORM };
  const socket = connect(options);
  const chunks: Buffer[] = [];
  const end = setTimeout(() => socket.end(), silenceMs);
  socket.on("error", () => {}).on("data", (chunk) => chunks.push(chunk) && end.refresh());
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.write(bytes, "latin1");
  await closed;
  clearTimeout(end);
  return Buffer.concat(chunks).toString("latin1");
}
