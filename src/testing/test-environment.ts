import { randomBytes } from "node:crypto";

/** The variables that every test receiver is started with, besides its database. Nothing is read from the process's own. */
export function testEnvironment(): Readonly<Record<string, string>> {
  return {
    APP_ENV: "test",
    // Any free ones.
    PORT: "0",
    ADMIN_PORT: "0",
    SIGNING_SECRET: randomBytes(32).toString("base64url"),
    ADMIN_TOKEN: randomBytes(24).toString("base64url"),
    ENCRYPTION_KEY: randomBytes(32).toString("base64"),
    // A test may send more than ten callbacks a minute from one address.
    RATE_LIMIT_DEFAULT: "off",
    RATE_LIMIT_CALLBACK: "off",
  };
}
