import { ConfigError, loadConfig } from "../../src/config/index.ts";

/** Production refuses one that is not random. */
export const KEY = "3q9VdJ0mYk1n0zT4cB7uWw5sXr2LhE8oPafG6iKtNxY=";
export const BASE = {
  SIGNING_SECRET: "a-secret-of-some-length",
  ENCRYPTION_KEY: KEY,
  ADMIN_TOKEN: "an-admin-token-long-enough",
};
export const JWT = {
  AUTH_METHOD: "jwt",
  JWT_ALGORITHM: "HS256",
  JWT_SECRET: "a-jwt-secret-of-32-bytes-or-more",
  JWT_ISSUER: "https://platform.example",
  JWT_AUDIENCE: "oncehook",
};
export const PRODUCTION = {
  APP_ENV: "production",
  SIGNING_SECRET: "a-production-secret-of-32-bytes-or-more",
  ENCRYPTION_KEY: KEY,
  ADMIN_TOKEN: "an-admin-token-long-enough",
  CALLBACK_BASE_URL: "https://pay.example.com/hooks",
  TRUST_PROXY: "10.0.0.0/8",
  OAUTH_TOKEN_URL: "https://platform.example.com/token",
  OAUTH_CLIENT_ID: "id",
  OAUTH_CLIENT_SECRET: "client-secret",
};

/** What is wrong with these variables. */
export function problems(env: Record<string, string>): readonly string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
