/** A backfill in a process that kills itself once three events are handed over. Arguments: the dialect, the database's address. */
import { z } from "zod";
import { backfillOnce } from "../../src/app/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { defineHandler } from "../../src/index.ts";
import { countOf } from "./effects.ts";
import type { Target } from "./open-target.ts";
import { CHILD_ENVIRONMENT } from "./secrets.ts";
import { shop } from "./shop-source.ts";

const [, , dialect, url = ""] = process.argv;
const target: Target = { dialect: dialect === "sqlite" ? "sqlite" : "postgres", url };
const handlers = [defineHandler({ source: "shop", type: "order", data: z.looseObject({}), handle: () => ({}) })];
const loaded = {
  config: loadConfig({ ...CHILD_ENVIRONMENT, DATABASE_URL: url }, { sources: { shop: shop() } }),
  handlers,
  migrations: [],
};
const request = { handler: "shop", sinceMs: Number.POSITIVE_INFINITY, isDryRun: false, perSecond: 10 };
setInterval(() => {
  void countOf(target, "oncehook_backfilled").then((count) => {
    if (count >= 3) process.kill(process.pid, "SIGKILL");
  });
}, 20);
await backfillOnce(loaded, request);
