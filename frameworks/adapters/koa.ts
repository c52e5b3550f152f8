import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import Koa from "koa";
import { toNodeHandler } from "../../src/embed/index.ts";
import type { Framework } from "../scenarios.ts";
import { listen } from "./listen.ts";

export const KOA: Framework = {
  name: "Koa 3",
  serve(receiver) {
    const app = new Koa();
    app.use(async (context) => {
      if (context.path === "/orders") context.body = await json(context.req);
    });
    const handle = toNodeHandler(receiver);
    const koa = app.callback();
    return listen(createServer((request, response) => handle(request, response, () => void koa(request, response))));
  },
};
