import { createReceiver } from "oncehook";
import { createApp } from "./app.ts";
import config from "./oncehook.config.ts";

// Reads ONCEHOOK_DATABASE_URL and ONCEHOOK_ENCRYPTION_KEY.
const receiver = createReceiver(config, {
  // Who may use the page: ask your login here. Until then .env opens it, on your own machine.
  admin: { authorize: () => (process.env.ADMIN_PAGE === "open" ? "operator" : null) },
});
await receiver.ready(); // opens the database now, and not with the first callback
const app = await createApp(receiver);
await app.listen(Number(process.env.PORT ?? 3000));
process.once("SIGTERM", () => app.close().then(() => receiver.close()));
