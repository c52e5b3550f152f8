import { expect, it } from "vitest";
import { z } from "zod";
import { loadConfig } from "../../src/config/index.ts";
import { VARIABLES } from "../../src/config/variables.ts";
import { defineHandler } from "../../src/index.ts";
import { stripe } from "../../src/sources/platforms/index.ts";
import { BASE } from "../support/configuration.ts";

type Values = ReturnType<typeof loadConfig>["values"];
const valueNamed = (values: Values, name: string) => values.find((one) => one.name === name);

const SECRETS = {
  DATABASE_URL: "postgres://ada:the-password-of-ada@localhost/shop?sslpassword=the-password-of-the-key",
  SMTP_URL: "smtps://mailer:the-password-of-the-mailer@mail.example.com",
  NOTIFY_EMAIL_TO: "ops@example.com",
  NOTIFY_EMAIL_FROM: "hooks@example.com",
  ALERT_SLACK_URL: "https://hooks.slack.com/services/T000/B000/the-part-that-is-a-secret",
  ALERT_PAGERDUTY_KEY: "0123456789abcdef0123456789abcdef",
  ADMIN_VIEWER_TOKEN: "a-token-for-those-who-may-look",
  SOURCES: "github",
  GITHUB_SECRET: "the-secret-of-github-of-this-test",
  OTEL_TRACES_EXPORTER: "otlp",
  OTEL_EXPORTER_OTLP_ENDPOINT: "https://collector:the-password-of-traces@traces.example.com",
  OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20the-token-of-traces",
};

it("every variable of the table is among the values, under a group, once", () => {
  const names = loadConfig(BASE).values.map(({ name }) => name);
  expect(names.toSorted()).toEqual(Object.keys(VARIABLES).toSorted());
});

it("a value says whether it is the default's, the environment's, of a file, or generated", () => {
  const origins = new Map([
    ["PORT", "env_file"],
    ["ADMIN_TOKEN", "generated"],
  ] as const);
  const { values } = loadConfig({ ...BASE, PORT: "9000", LOG_LEVEL: "debug" }, {}, { origins });
  expect(valueNamed(values, "PORT")).toMatchObject({ value: "9000", origin: "env_file" });
  expect(valueNamed(values, "LOG_LEVEL")).toMatchObject({ value: "debug", origin: "environment" });
  expect(valueNamed(values, "ADMIN_TOKEN")).toMatchObject({ value: null, isSecret: true, origin: "generated" });
  expect(valueNamed(values, "RETRY_MAX")).toMatchObject({ value: "3", origin: "default" });
  expect(valueNamed(values, "RECORD_RETENTION_DAYS")).toMatchObject({
    value: null,
    origin: "default",
    defaultText: "for ever",
  });
});

it("no secret is among the values, whatever holds it, and each that is set is named", () => {
  const { values } = loadConfig({ ...BASE, ...SECRETS });
  const text = JSON.stringify(values);
  for (const part of [
    ...["the-password-of", "the-part-that", "0123456789abcdef", "a-token-for-those", "the-secret-of-github"],
    ...["the-token-of-traces", BASE.SIGNING_SECRET, BASE.ADMIN_TOKEN, BASE.ENCRYPTION_KEY],
  ])
    expect(text).not.toContain(part);
  for (const name of ["SMTP_URL", "GITHUB_SECRET", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_ENDPOINT"])
    expect(valueNamed(values, name)).toMatchObject({ value: null, isSecret: true, origin: "environment" });
  expect(valueNamed(values, "DATABASE_URL")?.value).toBe("postgres://ada@localhost/shop");
});

it("the options of a source in code are values, and its secret is named without its text", () => {
  const handler = defineHandler({ source: "billing", name: "audit", type: "*", data: z.any(), handle: () => ({}) });
  const billing = stripe({ secret: "whsec_the-secret-of-the-file", keep: "90d", only: ["invoice.*"] });
  const { values } = loadConfig(BASE, { sources: { billing }, handlers: [handler] });
  expect(values.filter(({ origin }) => origin === "code").map(({ name, value }) => [name, value])).toEqual(
    expect.arrayContaining([
      ["sources.billing", "Stripe"],
      ["sources.billing.secret", null],
      ["sources.billing.keep", "90d"],
      ["sources.billing.only", '["invoice.*"]'],
      ["handlers.billing#audit", "*"],
    ]),
  );
  expect(JSON.stringify(values)).not.toContain("the-secret-of-the-file");
});

it("an application has its names, and no variable of the server", () => {
  const { values } = loadConfig(
    { ENCRYPTION_KEY: BASE.ENCRYPTION_KEY, SIGNING_SECRET: BASE.SIGNING_SECRET },
    {},
    {
      ...{ isEmbedded: true, database: { host: "db.example.com", user: "ada", password: "the-password", ssl: true } },
      origins: new Map([["DATABASE_URL", "code"]]),
      nameOf: (name) => (name === "DATABASE_URL" ? "database" : `ONCEHOOK_${name}`),
    },
  );
  expect(valueNamed(values, "database")).toMatchObject({ value: null, origin: "code" });
  expect(valueNamed(values, "ONCEHOOK_ENCRYPTION_KEY")).toMatchObject({ isSecret: true, origin: "environment" });
  expect(valueNamed(values, "ONCEHOOK_RATE_LIMIT_DEFAULT")).toMatchObject({ value: "off", origin: "default" });
  expect(values.some(({ name }) => /ADMIN_TOKEN|PORT|SOURCES/.test(name))).toBe(false);
  expect(JSON.stringify(values)).not.toContain("the-password");
});
