import { join } from "node:path";
import { POOL_SIZE, waitVariable } from "./contender.ts";
import { nodeServer } from "./node-server.ts";

export const bare = nodeServer({
  name: "bare",
  title: "bare node:http + HMAC",
  store: "none",
  file: "bare.mjs",
  packages: [],
});

export const prototype = nodeServer({
  name: "prototype",
  title: "a prototype of group commit",
  store: "sqlite",
  file: "prototype.mjs",
  packages: [],
  env: (place) => ({ DATABASE_FILE: join(place.folder, "events.db") }),
});

export const expressSqlite = nodeServer({
  name: "express-sqlite",
  title: "Express 5 + better-sqlite3",
  store: "sqlite",
  file: "express-sqlite.mjs",
  packages: ["express", "better-sqlite3"],
  env: (place) => ({ DATABASE_FILE: join(place.folder, "events.db"), ...waitVariable(place) }),
});

export const expressPostgres = nodeServer({
  name: "express-postgres",
  title: "Express 5 + pg",
  store: "postgres",
  file: "express-postgres.mjs",
  packages: ["express", "pg"],
  env: (place) => ({ DATABASE_URL: place.databaseUrl, BENCH_POOL_SIZE: POOL_SIZE, ...waitVariable(place) }),
});
