/** What the receivers of the tests are configured with. */
export const SECRET = "test-signing-secret-of-32-bytes!";
export const TOKEN = "test-admin-token-of-some-length";

/** What a command of ours needs in its environment, wherever it looks for its database. */
export const CHILD_ENVIRONMENT = {
  PATH: process.env.PATH ?? "",
  APP_ENV: "test",
  SIGNING_SECRET: SECRET,
  ADMIN_TOKEN: TOKEN,
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
};
