/**
 * Copies a database in a process that kills itself. Arguments: the source's file, the target's address, and after how many
 * batches it dies.
 */
import { copyDatabase } from "../../src/app/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { EFFECTS, KINDS } from "./effects.ts";
import { CHILD_ENVIRONMENT } from "./secrets.ts";

const [, , from = "", url = "", dies = "1"] = process.argv;
let batches = 0;

await copyDatabase({
  from,
  config: loadConfig({ ...CHILD_ENVIRONMENT, DATABASE_URL: url }),
  handlers: [],
  migrations: [EFFECTS, KINDS],
  skip: [],
  onProgress() {
    batches += 1;
    if (batches === Number(dies)) process.kill(process.pid, "SIGKILL");
  },
});
