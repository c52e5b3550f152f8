import { type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { z } from "zod";
import { parseJson } from "../../domain/index.ts";
import { connectionError, Disconnected, notAReceiver, statusError } from "./disconnected.ts";

export interface StreamOptions {
  readonly url: URL;
  readonly token: string;
  readonly signal: AbortSignal;
}

/** The receiver says something every five seconds. */
const IDLE_TIMEOUT_MS = 15_000;
const LINE_FEED = 10;
/** The longest body that a receiver takes, as base64, and its headers. */
const MAX_LINE_BYTES = 96 * 1024 * 1024;

/**
 * The lines of one connection, until it ends.
 * @throws Disconnected at its end
 */
export async function* captureLines({ url, token, signal }: StreamOptions): AsyncGenerator<CaptureLine> {
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  const headers = { authorization: `Bearer ${token}`, accept: "application/x-ndjson" };
  const asked = send(url, { headers, agent: false, signal }).end();
  let response: IncomingMessage | undefined;
  try {
    response = await answerTo(asked);
    if (response.statusCode !== 200) throw statusError(response, url);
    if (!/^application\/x-ndjson\b/.test(response.headers["content-type"] ?? "")) throw notAReceiver(url);
    for await (const text of textLines(response)) yield parseCaptureLine(text, url);
    throw new Disconnected("the receiver ended the connection", "after_success");
  } catch (error) {
    throw error instanceof Disconnected ? error : connectionError(error, url);
  } finally {
    // The peer may have closed already; later errors are ignored.
    asked.on("error", () => {}).destroy();
    response?.on("error", () => {});
  }
}

function answerTo(asked: ClientRequest): Promise<IncomingMessage> {
  const answered = Promise.withResolvers<IncomingMessage>();
  asked.once("response", answered.resolve).on("error", answered.reject);
  return withIdleTimeout(answered.promise, asked);
}

async function* textLines(response: IncomingMessage): AsyncGenerator<string> {
  const chunks = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let partial: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    // The timeout runs only while reading: a long delivery leaves the connection unread.
    const { value, done } = await withIdleTimeout(chunks.next(), response);
    if (done === true) return;
    let rest = value;
    for (let end = rest.indexOf(LINE_FEED); end !== -1; end = rest.indexOf(LINE_FEED)) {
      yield Buffer.concat([...partial, rest.subarray(0, end)]).toString();
      rest = rest.subarray(end + 1);
      partial = [];
      bytes = 0;
    }
    partial.push(rest);
    bytes += rest.length;
    if (bytes > MAX_LINE_BYTES)
      throw new Disconnected("the receiver sends a line that does not end", "never");
  }
}

async function withIdleTimeout<T>(
  coming: Promise<T>,
  connection: { destroy(error: Error): unknown },
): Promise<T> {
  const silence = new Disconnected(
    `the receiver has said nothing for ${IDLE_TIMEOUT_MS / 1_000} s`,
    "after_success",
  );
  const timer = setTimeout(() => connection.destroy(silence), IDLE_TIMEOUT_MS);
  try {
    return await coming;
  } finally {
    clearTimeout(timer);
  }
}

const at = z.string();
const LINE = z.union([
  z.discriminatedUnion("line", [
    z.object({ line: z.literal("hello"), at, database: z.enum(["same", "another", "older"]) }),
    z.object({
      line: z.literal("request"),
      at,
      received_at: z.string(),
      method: z.string(),
      url: z.string(),
      headers: z.array(z.string()),
      body: z.string(),
    }),
    z.object({ line: z.literal("unreadable"), at }),
    z.object({ line: z.enum(["swept", "heartbeat"]) }),
  ]),
  // A newer receiver may say more.
  z.object({ line: z.string() }).transform(() => ({ line: "unknown" as const })),
]);

type CaptureLine = z.infer<typeof LINE>;
export type CapturedRequest = Extract<CaptureLine, { readonly line: "request" }>;

function parseCaptureLine(text: string, url: URL): CaptureLine {
  const parsed = LINE.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw notAReceiver(url);
}
