import { describe, expect, it } from "vitest";
import { BASE, PRODUCTION, problems } from "../support/configuration.ts";

describe("a problem of the configuration", () => {
  it.each([
    [{ APP_ENV: "prod", SIGNING_SECRET: "", ENCRYPTION_KEY: "", ADMIN_TOKEN: "" }, ["APP_ENV"]],
    [{ APP_ENV: "production", ENCRYPTION_KEY: "abc" }, ["ENCRYPTION_KEY"]],
    [{ APP_ENV: "production", ADMIN_TOKEN: "short" }, ["ADMIN_TOKEN"]],
    [{ APP_ENV: "production", SIGNING_SECRET: " short" }, ["SIGNING_SECRET"]],
    [{ APP_ENV: "production", TRUST_PROXY: "everybody" }, ["TRUST_PROXY"]],
    [{ APP_ENV: "production", TRUST_PROXY: "", HOST: "0.0.0.0" }, ["TLS_CERT_FILE, TRUST_PROXY"]],
    [{ APP_ENV: "production", OAUTH_TOKEN_URL: "x" }, ["OAUTH_TOKEN_URL"]],
    [{ APP_ENV: "production", OAUTH_TOKEN_URL: "" }, ["OAUTH_ISSUER, OAUTH_TOKEN_URL"]],
    [{ APP_ENV: "production", SIGNING_SECRET: "", AUTH_METHOD: "none" }, ["AUTH_METHOD"]],
    [{ APP_ENV: "production", SIGNING_SECRET: "", SIGNING_SECRT: "x" }, ["SIGNING_SECRT"]],
    [{ TRUST_PROXY: "everybody", HOST: "0.0.0.0" }, ["TRUST_PROXY"]],
    [{ REQUEST_TIMEOUT_MS: "x", HANDLER_TIMEOUT_MS: "40000" }, ["REQUEST_TIMEOUT_MS"]],
  ])("a problem is reported once, without what only follows from it: %j", (over, names) => {
    const env = { ...PRODUCTION, APP_ENV: "development", ...over };
    expect(problems(env).map((problem) => problem.split(":")[0])).toEqual(names);
  });

  it.each(["0/minute", "0"])("a rate limit of 0 is refused with how to switch it off: %s", (value) => {
    expect(problems({ ...BASE, RATE_LIMIT_CALLBACK: value })).toEqual([
      `RATE_LIMIT_CALLBACK: got "${value}", expected a count of at least 1: 0 would refuse every request, and off switches the limit off`,
    ]);
  });
});

describe("a variable's name", () => {
  it.each([
    ["PROT", "PORT"],
    ["POTR", "PORT"],
    ["OPRT", "PORT"],
    ["HSOT", "HOST"],
    ["APP_EVN", "APP_ENV"],
    ["DATABSE_URL", "DATABASE_URL"],
  ])("the misspelt name %s is recognised", (name, meant) => {
    expect(problems({ ...BASE, [name]: "1" })).toEqual([
      `${name}: is set, but there is no such variable; did you mean ${meant}?`,
    ]);
  });

  it("the variables of other programs are ignored", () => {
    const others =
      "PATH HOME HOSTNAME HOSTTYPE HOSTS POST PORTS PORTAL PWD OLDPWD SHELL SHLVL USER LOGNAME LANG LANGUAGE LC_ALL TERM " +
      "TZ TMP TMPDIR TEMP EDITOR PAGER MAIL MANPATH DISPLAY DEBUG COLORTERM NODE_ENV NODE_PATH NODE_OPTIONS NO_COLOR " +
      "CI INIT_CWD OSTYPE MACHTYPE PS1 IFS UID EUID PPID SSH_TTY XDG_RUNTIME_DIR HTTP_PROXY HTTPS_PROXY NO_PROXY PGHOST PGPORT";
    const env = Object.fromEntries(others.split(" ").map((name) => [name, "x"]));
    expect(problems({ ...BASE, ...env })).toEqual([]);
  });
});
