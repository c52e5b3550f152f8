import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

export interface Balancer {
  readonly origin: string;
  stop(): Promise<void>;
}

/**
 * A balancer with the rules of deploy/nginx: receivers take turns, one that refuses the connection is passed over, and
 * what was sent to one that then ends is answered 502, and never sent to the next.
 */
export async function startBalancer(origins: readonly string[]): Promise<Balancer> {
  let turn = 0;
  const server = createServer(async (incoming, response) => {
    turn += 1;
    const inTurn = origins.map((_, at) => origins[(turn + at) % origins.length] as string);
    try {
      await passOn(incoming, await buffer(incoming), inTurn, response);
    } catch {
      // The platform has hung up in the middle of its request.
      response.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function passOn(
  incoming: IncomingMessage,
  body: Buffer,
  origins: readonly string[],
  response: ServerResponse,
): Promise<void> {
  for (const origin of origins) {
    const answer = await ask(origin, incoming, body, response);
    if (answer === "refused") continue;
    if (answer === "cut") break;
    response.writeHead(answer.status, answer.headers).end(answer.body);
    return;
  }
  response.writeHead(502).end();
}

type Answer =
  | { readonly status: number; readonly headers: IncomingMessage["headers"]; readonly body: Buffer }
  | "refused"
  | "cut";

/** Over a connection of its own: one that was kept might belong to a process that has ended since. */
function ask(
  origin: string,
  { method, url, headers }: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
): Promise<Answer> {
  return new Promise((resolve) => {
    const sent = request(origin + url, { method, headers: { ...headers, connection: "close" } }, (answer) => {
      buffer(answer).then(
        (text) => resolve({ status: answer.statusCode ?? 502, headers: answer.headers, body: text }),
        () => resolve("cut"),
      );
    });
    sent.once("error", ({ code }: NodeJS.ErrnoException) => {
      resolve(code === "ECONNREFUSED" ? "refused" : "cut");
    });
    // A platform that hangs up ends the request behind the balancer too.
    response.once("close", () => sent.destroy());
    sent.end(body);
  });
}
