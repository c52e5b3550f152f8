import "reflect-metadata";
import { Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { expect, it } from "vitest";
import { toNodeHandler } from "../src/embed/index.ts";
import { CALLBACK_PATH, stripeCallback, withApplication } from "../test/support/application.ts";
import { withDatabase } from "../test/support/databases.ts";

class AppModule {}
Module({})(AppModule);

/** What docs/frameworks/nest.md says in the first row of its table of mistakes. */
it("Nest answers 404 to a callback where the receiver is mounted after init(), and the receiver logs nothing", () =>
  withDatabase("sqlite", (target) =>
    withApplication(target, async ({ receiver, lines }) => {
      const app = await NestFactory.create(AppModule, { logger: false });
      await app.init();
      app.use(toNodeHandler(receiver));
      await app.listen(0, "127.0.0.1");
      try {
        const { body, headers } = stripeCallback();
        const response = await fetch((await app.getUrl()) + CALLBACK_PATH, { method: "POST", body, headers });
        expect([response.status, await response.json()]).toMatchObject([
          404,
          { message: `Cannot POST ${CALLBACK_PATH}` },
        ]);
        expect(lines).toEqual([]);
      } finally {
        await app.close();
      }
    }),
  ));
