import type { Server } from "node:http";
import { type HttpBindings, serve } from "@hono/node-server";
import { getConnInfo } from "@hono/node-server/conninfo";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import { type Receiver, toNodeHandler } from "../../src/embed/index.ts";
import type { Framework, Served } from "../scenarios.ts";
import { servedBy } from "./listen.ts";

type Bindings = { Bindings: HttpBindings };
type Mount = (app: Hono<Bindings>, receiver: Receiver) => void;

async function served(receiver: Receiver, mount: Mount, prepare: Mount = () => {}): Promise<Served> {
  const app = new Hono<Bindings>();
  prepare(app, receiver);
  mount(app, receiver);
  app.post("/orders", async (c) => c.json(await c.req.json()));
  const listening = Promise.withResolvers<void>();
  const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, () => listening.resolve()) as Server;
  await listening.promise;
  return servedBy(server);
}

/** A middleware that wants the payload of everything. */
const readFirst: Mount = (app) =>
  app.use(async (c, next) => {
    if (c.req.method === "POST") await c.req.json();
    await next();
  });

const byFetch: Mount = (app, receiver) => {
  app.all("/api/:source/callback", (c: Context<Bindings>) =>
    receiver.fetch(c.req.raw, { clientAddress: getConnInfo(c).remote.address ?? "", target: c.env.incoming.url ?? "" }),
  );
};

const byNode: Mount = (app, receiver) => {
  const handle = toNodeHandler(receiver);
  app.use((c, next) => {
    let isOther = false;
    handle(c.env.incoming, c.env.outgoing, () => {
      isOther = true;
    });
    return isOther ? next() : Promise.resolve(RESPONSE_ALREADY_SENT);
  });
};

export const HONO: Framework = {
  name: "Hono, by fetch",
  takesUnknownSources: true,
  serve: (receiver) => served(receiver, byFetch),
  behindParser: {
    serve: (receiver) => served(receiver, byFetch, readFirst),
    message: /c\.req\.json\(\) .*hand over the Request as it came \(in Hono c\.req\.raw\)/,
  },
};

export const HONO_NODE: Framework = {
  name: "Hono, by Node's request and response",
  serve: (receiver) => served(receiver, byNode),
  behindParser: {
    serve: (receiver) => served(receiver, byNode, readFirst),
    message: /^something has read the body before the receiver/,
  },
};
