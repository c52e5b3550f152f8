import { createServer } from "node:http";
import express, { type Express, type RequestHandler } from "express";
// @ts-expect-error the older version brings no types of its own
import olderExpress from "express-4";
import { type Receiver, toNodeHandler } from "../../src/embed/index.ts";
import type { Framework } from "../scenarios.ts";
import { listen } from "./listen.ts";

type Mount = (app: Express, handler: RequestHandler) => void;

/** The application's routes are behind its parser; the receiver is before it, or behind it by mistake. */
function application(receiver: Receiver, mount: Mount, create: () => Express = express): Express {
  const app = create();
  mount(app, toNodeHandler(receiver));
  app.use(express.json());
  app.post("/orders", (request, response) => void response.json(request.body));
  return app;
}

function framework(
  name: string,
  mount: Mount,
  options: Partial<Framework> & { create?: () => Express } = {},
): Framework {
  const { create, ...rest } = options;
  return {
    name,
    serve: (receiver) => listen(createServer(application(receiver, mount, create))),
    behindParser: {
      serve: (receiver) =>
        listen(createServer(application(receiver, (app, handler) => mount(app.use(express.json()), handler), create))),
      message:
        /^express\.json\(\) has read the body .* Move app\.use\(toNodeHandler\(receiver\)\) above .*express\.json\(\)/,
    },
    ...rest,
  };
}

const atRoot: Mount = (app, handler) => app.use(handler);
const mounted: Mount = (app, handler) => app.use("/hooks", handler);
const inRouter: Mount = (app, handler) => {
  const hooks = express.Router();
  hooks.use("/hooks", handler);
  app.use("/shop", hooks);
};

export const EXPRESS = framework("Express 5 at its root", atRoot);
export const EXPRESS_MOUNTED = framework("Express 5 below a path of baseUrl", mounted, { mount: "/hooks" });
export const EXPRESS_MOUNTED_UNKNOWN = framework("Express 5 below a path that baseUrl does not have", mounted, {
  mount: "/hooks",
  baseUrl: "https://app.example",
});
export const EXPRESS_ROUTER = framework("a router of Express 5 below another path", inRouter, { mount: "/shop/hooks" });
export const EXPRESS_4 = framework("Express 4", atRoot, { create: olderExpress });

/** With another parser before the receiver. */
export function expressBehind(parser: RequestHandler): Framework["serve"] {
  return (receiver) => listen(createServer(application(receiver, (app, handler) => app.use(parser).use(handler))));
}
