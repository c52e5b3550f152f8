import { createReceiver } from "oncehook";
import { createApp } from "./app.ts";
import config from "./oncehook.config.ts";

const receiver = createReceiver(config); // reads ONCEHOOK_DATABASE_URL and ONCEHOOK_ENCRYPTION_KEY
await receiver.ready(); // opens the database now, and not with the first callback
const app = createApp(receiver);
await app.listen({ port: Number(process.env.PORT ?? 3000) });
process.once("SIGTERM", () => app.close());
