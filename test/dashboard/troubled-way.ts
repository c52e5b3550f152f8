import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { withHttpServer } from "../support/http-server.ts";
import { type ReceiverOptions, withReceiver } from "../support/receiver.ts";
import { type Dashboard, type withDashboard, withPage } from "./dashboard.ts";

/** What happens on the way to the receiver to requests whose path begins with this. */
type Trouble = "hangs" | "away" | 500 | 404 | 401;

export interface Troubled extends Dashboard {
  /** By the beginning of a path; whoever is waiting when it is taken away goes on waiting. */
  readonly troubles: Map<string, Trouble>;
}

/** Lends a receiver and a browser that comes to it through a proxy, which can be told to be a bad one. */
export function withTroubledDashboard<T>(
  use: (dashboard: Troubled) => Promise<T>,
  options: ReceiverOptions = {},
  context: Parameters<typeof withDashboard>[2] = {},
): Promise<T> {
  const troubles: Troubled["troubles"] = new Map();
  return withReceiver(
    "sqlite",
    (receiver) =>
      withHttpServer(
        (incoming, response) => {
          const [, trouble] = [...troubles].find(([path]) => incoming.url?.startsWith(path)) ?? [];
          if (trouble === undefined) passOn(receiver.adminOrigin, incoming, response);
          else if (trouble === "away") incoming.socket.destroy();
          else if (trouble !== "hangs")
            response.writeHead(trouble, { "content-type": "application/json" }).end('{"error":"out of order"}');
        },
        (origin) => withPage(origin, (opened) => use({ receiver, troubles, ...opened }), context),
      ),
    options,
  );
}

function passOn(origin: string, incoming: IncomingMessage, response: ServerResponse): void {
  const { method = "GET", url = "/", headers } = incoming;
  const onward = request(origin + url, { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    response.flushHeaders();
    answer.on("error", () => response.destroy()).pipe(response);
  });
  onward.on("error", () => response.destroy());
  response.on("close", () => onward.destroy());
  incoming.pipe(onward);
}
