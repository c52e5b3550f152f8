import express from "express";
import { type Receiver, toAdminHandler, toNodeHandler } from "oncehook";

export function createApp(receiver: Receiver) {
  const app = express();
  // Before every parser of bodies: Stripe signed the bytes.
  app.use(toNodeHandler(receiver));
  app.use("/admin/webhooks", toAdminHandler(receiver)); // the page of your callbacks
  app.use(express.json());
  app.get("/", (_request, response) => {
    response.send("The shop");
  });
  return app;
}
