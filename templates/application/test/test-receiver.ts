import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createReceiver, type ReceiverOptions } from "oncehook";
import config from "../oncehook.config.ts";

/** The receiver of one test, on a database of its own. */
export function testReceiver(options: ReceiverOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), "webhooks-"));
  const file = join(folder, "test.db");
  const variables = { APP_ENV: "test", ENCRYPTION_KEY: randomBytes(32).toString("base64") };
  const receiver = createReceiver(config, { database: `sqlite:${file}`, variables, ...options });
  return {
    receiver,
    rows(statement: string) {
      const database = new DatabaseSync(file, { readOnly: true });
      const rows = database.prepare(statement).all();
      database.close();
      return rows.map((row) => ({ ...row }));
    },
    async [Symbol.asyncDispose]() {
      await receiver.close();
      rmSync(folder, { recursive: true });
    },
  };
}
