import "reflect-metadata";
import { Body, Controller, HttpCode, type INestApplication, Module, Post } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { type Receiver, toNodeHandler } from "../../src/embed/index.ts";
import type { Framework } from "../scenarios.ts";
import { servedBy } from "./listen.ts";

/** The decorators are called as functions: what Node itself runs has none. */
class OrdersController {
  create(order: object): object {
    return order;
  }
}
const method = Object.getOwnPropertyDescriptor(OrdersController.prototype, "create") as PropertyDescriptor;
Body()(OrdersController.prototype, "create", 0);
HttpCode(200)(OrdersController.prototype, "create", method);
Post("orders")(OrdersController.prototype, "create", method);
Reflect.defineMetadata("design:paramtypes", [Object], OrdersController.prototype, "create");
Controller()(OrdersController);

class AppModule {}
Module({ controllers: [OrdersController] })(AppModule);

async function listen(app: INestApplication) {
  await app.listen(0, "127.0.0.1");
  const { origin } = servedBy(app.getHttpServer());
  return { origin, close: () => app.close() };
}

interface NestUse {
  readonly rawBody?: boolean;
  /** Mounts the receiver behind the parsers that Nest adds by itself. */
  readonly isBehind?: boolean;
}

async function serve(receiver: Receiver, { rawBody = false, isBehind = false }: NestUse = {}) {
  const app = await NestFactory.create(AppModule, { logger: false, rawBody, forceCloseConnections: true });
  // Nest adds its parsers in init(), which listen() calls.
  if (isBehind) app.getHttpAdapter().registerParserMiddleware?.("", rawBody);
  app.use(toNodeHandler(receiver));
  return listen(app);
}

export const NEST: Framework = {
  name: "Nest 12",
  serve: (receiver) => serve(receiver),
  behindParser: {
    serve: (receiver) => serve(receiver, { isBehind: true }),
    message: /^Nest's default parser .*express\.json\(\).* before app\.listen\(\).*rawBody: true/,
  },
};

export const NEST_RAW_BODY: Framework = {
  name: "Nest 12 behind its parser with rawBody",
  exceptions: [
    {
      scenario: /^a body (over|that passes|that does not end)/,
      because: "Nest's own parser reads with its own limits, and hands the bytes over",
    },
  ],
  serve: (receiver) => serve(receiver, { rawBody: true, isBehind: true }),
};
