import { SECRET } from "../load/event-file.ts";
import type { Contender } from "./contender.ts";
import { nodeServer } from "./node-server.ts";
import { databaseFile } from "./oncehook.ts";

/** As the server's by default. */
const POOL_SIZE = "12";

/** A receiver inside an application of each framework, on each database. */
export const APPLICATIONS: readonly Contender[] = [
  application("node", "node:http", "sqlite"),
  application("express", "Express 5", "sqlite"),
  application("hono", "Hono", "sqlite"),
  application("node", "node:http", "postgres"),
  application("express", "Express 5", "postgres"),
  application("hono", "Hono", "postgres"),
];

function application(framework: string, name: string, store: "sqlite" | "postgres"): Contender {
  const packages = { node: [], express: ["express"], hono: ["hono", "@hono/node-server"] }[framework] ?? [];
  return nodeServer({
    name: `application-${framework}-${store}`,
    title: `Oncehook in ${name} on ${store === "sqlite" ? "SQLite" : "PostgreSQL"}`,
    store,
    file: "application.mjs",
    packages,
    env: ({ folder, databaseUrl }) => ({
      FRAMEWORK: framework,
      SIGNING_SECRET: SECRET,
      POOL_SIZE,
      DATABASE_URL: store === "sqlite" ? `sqlite:${databaseFile(folder)}` : databaseUrl,
    }),
  });
}
