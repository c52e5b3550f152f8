import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { toNodeHandler } from "../../src/embed/index.ts";
import type { Framework } from "../scenarios.ts";
import { listen } from "./listen.ts";

export const NODE: Framework = {
  name: "node:http",
  serve(receiver) {
    const handle = toNodeHandler(receiver);
    return listen(createServer((request, response) => handle(request, response, () => void orders(request, response))));
  },
  behindParser: {
    serve(receiver) {
      const handle = toNodeHandler(receiver);
      return listen(
        createServer(async (request, response) => {
          await json(request);
          handle(request, response);
        }),
      );
    },
    message: /^something has read the body before the receiver/,
  },
};

async function orders(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const order = await json(request);
  response.writeHead(request.url === "/orders" ? 200 : 404, { "content-type": "application/json" });
  response.end(JSON.stringify(request.url === "/orders" ? order : "there is nothing"));
}
