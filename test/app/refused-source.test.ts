import { access } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { start } from "../../src/app/index.ts";
import { capturedLog } from "../../src/testing/captured-log.ts";
import { withFolder } from "../support/folder.ts";
import { testConfig } from "../support/receiver.ts";

it.each(['"whsec_in_quotation_marks"', "whsec_with_a_space "])(
  "a start that is refused for the secret %j creates no database",
  (secret) =>
    withFolder(async (folder) => {
      const path = join(folder, "of-the-start.db");
      const env = { SOURCES: "stripe", STRIPE_SECRET: secret };
      const config = testConfig({ dialect: "sqlite", url: `sqlite:${path}` }, env);
      await expect(start(config, capturedLog(config))).rejects.toMatchObject({
        name: "ConfigError",
        message: expect.stringContaining("STRIPE_SECRET: got "),
      });
      await expect(access(path)).rejects.toMatchObject({ code: "ENOENT" });
    }),
);
