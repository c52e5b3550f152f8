import "reflect-metadata";
import { NestFactory } from "@nestjs/core";
import { type Receiver, toAdminHandler, toNodeHandler } from "oncehook";
import { AppModule } from "./app.module.ts";

export async function createApp(receiver: Receiver) {
  const app = await NestFactory.create(AppModule);
  // Before listen(), where Nest adds its parsers of bodies: Stripe signed the bytes.
  app.use(toNodeHandler(receiver));
  app.use("/admin/webhooks", toAdminHandler(receiver)); // the page of your callbacks
  return app;
}
