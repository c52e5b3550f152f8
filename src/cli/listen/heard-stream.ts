import { type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { Disconnected } from "./disconnected.ts";
import { type ReadLine, readLine } from "./read-line.ts";
import { refusalOf, somethingElse, troubleOf } from "./refusals.ts";

export interface StreamOptions {
  readonly url: URL;
  readonly token: string;
  readonly signal: AbortSignal;
}

/** The receiver says something every five seconds. */
const SILENCE_MS = 15_000;
const LINE_FEED = 10;
/** The longest body that a receiver takes, as base64, and its headers. */
const LONGEST_LINE = 96 * 1024 * 1024;

/**
 * The lines of one connection, until it ends.
 * @throws Disconnected at its end
 */
export async function* heardLines({ url, token, signal }: StreamOptions): AsyncGenerator<ReadLine> {
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  const headers = { authorization: `Bearer ${token}`, accept: "application/x-ndjson" };
  const asked = send(url, { headers, agent: false, signal }).end();
  let response: IncomingMessage | undefined;
  try {
    response = await answerTo(asked);
    if (response.statusCode !== 200) throw refusalOf(response, url);
    if (!/^application\/x-ndjson\b/.test(response.headers["content-type"] ?? "")) throw somethingElse(url);
    for await (const text of textLines(response)) yield readLine(text, url);
    throw new Disconnected("the receiver ended the connection", "where_it_worked");
  } catch (error) {
    throw error instanceof Disconnected ? error : troubleOf(error, url);
  } finally {
    // The other side may have gone already; nobody waits for what it says now.
    asked.on("error", () => {}).destroy();
    response?.on("error", () => {});
  }
}

function answerTo(asked: ClientRequest): Promise<IncomingMessage> {
  const answered = Promise.withResolvers<IncomingMessage>();
  asked.once("response", answered.resolve).on("error", answered.reject);
  return unlessSilent(answered.promise, asked);
}

async function* textLines(response: IncomingMessage): AsyncGenerator<string> {
  const chunks = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let begun: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    // Only while it is waited for: whoever works on a request for long lets the connection wait.
    const { value, done } = await unlessSilent(chunks.next(), response);
    if (done === true) return;
    let rest = value;
    for (let end = rest.indexOf(LINE_FEED); end !== -1; end = rest.indexOf(LINE_FEED)) {
      yield Buffer.concat([...begun, rest.subarray(0, end)]).toString();
      rest = rest.subarray(end + 1);
      begun = [];
      bytes = 0;
    }
    begun.push(rest);
    bytes += rest.length;
    if (bytes > LONGEST_LINE) throw new Disconnected("the receiver sends a line that does not end", "never");
  }
}

async function unlessSilent<T>(
  coming: Promise<T>,
  connection: { destroy(error: Error): unknown },
): Promise<T> {
  const silence = new Disconnected(
    `the receiver has said nothing for ${SILENCE_MS / 1_000} s`,
    "where_it_worked",
  );
  const timer = setTimeout(() => connection.destroy(silence), SILENCE_MS);
  try {
    return await coming;
  } finally {
    clearTimeout(timer);
  }
}
