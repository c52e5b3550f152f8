import { describe, expect, it } from "vitest";
import { compareEnvironments } from "../../src/config/index.ts";

describe("comparing environments", () => {
  const file = (name: string, values: Record<string, string>) => ({ name, values });

  it("shared secrets are found under any name, without their values", () => {
    const shared = compareEnvironments([
      file("test", {
        SIGNING_SECRET: "one",
        CALLBACK_BASE_URL: "https://a.example.com/",
        DATABASE_URL: "postgres://x",
      }),
      file("production", {
        SIGNING_SECRET_PREVIOUS: "one",
        CALLBACK_BASE_URL: "https://a.example.com",
        DATABASE_URL: "postgres://x",
      }),
    ]);
    expect(shared).toEqual([
      "production and test share one secret: SIGNING_SECRET_PREVIOUS equals SIGNING_SECRET; give each its own",
      "production and test share one address: CALLBACK_BASE_URL equals CALLBACK_BASE_URL; give each its own",
      "production and test share one database: DATABASE_URL equals DATABASE_URL; give each its own",
    ]);
  });

  it("Two files of one environment may share their secrets, and a third environment may not", () => {
    const shared = compareEnvironments([
      file(".env.production", { APP_ENV: "production", SIGNING_SECRET: "one" }),
      file(".env.production-eu", { APP_ENV: "production", SIGNING_SECRET: "one" }),
      file(".env.test", { APP_ENV: "test", SIGNING_SECRET: "one" }),
    ]);
    expect(shared).toEqual([
      ".env.test and .env.production share one secret: SIGNING_SECRET equals SIGNING_SECRET; give each its own",
    ]);
  });

  it("environments that share nothing have no problem", () => {
    expect(
      compareEnvironments([file("a", { SIGNING_SECRET: "1" }), file("b", { SIGNING_SECRET: "2", ADMIN_TOKEN: "" })]),
    ).toEqual([]);
  });
});
