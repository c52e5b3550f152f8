import { expect, it } from "vitest";
import { loadConfig } from "../../src/config/index.ts";

const GIVEN = {
  APP_ENV: "test",
  SIGNING_SECRET: "a-secret-of-some-length",
  ADMIN_TOKEN: "an-admin-token-long-enough",
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
};
const TLS = { TLS_CERT_FILE: "cert.pem", TLS_KEY_FILE: "key.pem" };

it.each([{ PORT: "9000", ADMIN_PORT: "9000" }, { PORT: "8081" }, { ADMIN_PORT: "8080", ...TLS }])(
  "one port for both listeners is refused: %j",
  (env) => {
    expect(() => loadConfig({ ...GIVEN, ...env })).toThrow(
      /^ADMIN_PORT: got \d+, expected another port than PORT: the two listeners need one each$/,
    );
  },
);

it.each([
  { PORT: "0", ADMIN_PORT: "0" },
  { PORT: "9000", ADMIN_PORT: "9000", HOST: "127.0.0.2" },
])("one port on two addresses is accepted, and so is any free port: %j", (env) => {
  expect(() => loadConfig({ ...GIVEN, ...env })).not.toThrow();
});
