import { randomBytes } from "node:crypto";
import { loadConfig } from "../config/index.ts";
import { createLogger, createMask } from "../observability/index.ts";

/**
 * The configuration of a demo: free ports, made-up secrets, SQLite in this file, no rate limits and no log.
 * @param given what the demo has of its own
 */
export function demoSetup(
  databaseFile: string,
  given: Readonly<Record<string, string>>,
  configured?: Parameters<typeof loadConfig>[1],
) {
  const [secret = "", token = "", key = ""] = Array.from({ length: 3 }, () =>
    randomBytes(32).toString("base64"),
  );
  const variables = {
    APP_ENV: "development",
    DATABASE_URL: `sqlite:${databaseFile}`,
    PORT: "0",
    ADMIN_PORT: "0",
    SIGNING_SECRET: secret,
    ADMIN_TOKEN: token,
    ENCRYPTION_KEY: key,
    // A demo sends more callbacks a minute than one platform does.
    RATE_LIMIT_DEFAULT: "off",
    RATE_LIMIT_CALLBACK: "off",
    LOG_LEVEL: "silent",
    ...given,
  };
  const config = loadConfig(variables, configured);
  const logger = createLogger({ level: "silent", mask: createMask({ ...config.mask, secretValues: [] }) });
  return { config, logger, secret, token };
}
