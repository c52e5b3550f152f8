import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/index.ts";
import { BASE, JWT, PRODUCTION, problems } from "../support/configuration.ts";

describe("the configuration", () => {
  it("the configuration has the defaults of SPEC 8 and of the design", () => {
    expect(loadConfig(BASE)).toMatchObject({
      environment: "development",
      baseUrl: "http://127.0.0.1:8080",
      basePath: "",
      listen: { host: "127.0.0.1", port: 8080, trustProxy: [] },
      admin: { host: "127.0.0.1", port: 8081 },
      database: { kind: "sqlite", path: expect.stringMatching(/\/data\/oncehook\.db$/) },
      limits: {
        default: { points: 100, windowSeconds: 3600 },
        callback: { points: 10, windowSeconds: 60 },
        store: "memory",
      },
      retry: { max: 3, delaysMs: [60_000] },
      eventTypeFrom: "either",
      rejectTypeMismatch: false,
      maxBodyBytes: 1_048_576,
      handlerTimeoutMs: 10_000,
      oauth: null,
      redirect: {
        scopePath: "platform",
        uri: "http://127.0.0.1:8080/api/platform/oauth-callback",
        responseMode: "query",
        successUrl: null,
      },
      builtInHandlers: ["user_authorized", "payment_notify", "webhook_message"],
      ipAllowList: null,
      authentication: { methods: [["hmac"]], signing: { toleranceSeconds: null } },
      retention: { logDays: 30, recordDays: null },
    });
  });

  it("the configuration is deeply frozen", () => {
    const config = loadConfig(BASE);
    expect(
      Object.isFrozen(config) &&
        Object.isFrozen(config.listen) &&
        Object.isFrozen(config.authentication.signing.secrets),
    ).toBe(true);
  });

  it("the configuration reads every kind of value", () => {
    expect(
      loadConfig({
        ...BASE,
        CALLBACK_BASE_URL: "http://127.0.0.1:9/a/b//",
        DATABASE_URL: "postgres://u:pw@db:5432/x",
        POOL_SIZE: "7",
        RATE_LIMIT_DEFAULT: "off",
        RATE_LIMIT_CALLBACK: "3/second",
        RETRY_DELAY_SECONDS: "0.5",
        SIGNATURE_TOLERANCE_SECONDS: "300",
        HANDLERS: "payment_notify",
        IP_ALLOW_LIST: "192.0.2.0/24, 2001:db8::/32",
        TRUST_PROXY: "10.0.0.1",
        SIGNING_SECRET_PREVIOUS: "the-secret-before-that",
        MASK_KEYS: "iban,  tax_id",
      }),
    ).toMatchObject({
      baseUrl: "http://127.0.0.1:9/a/b",
      basePath: "/a/b",
      database: { kind: "postgres", connection: "postgres://u:pw@db:5432/x", poolSize: 7 },
      limits: { default: null, callback: { points: 3, windowSeconds: 1 } },
      retry: { delaysMs: [500] },
      authentication: {
        signing: { secrets: ["a-secret-of-some-length", "the-secret-before-that"], toleranceSeconds: 300 },
      },
      builtInHandlers: ["payment_notify"],
      ipAllowList: ["192.0.2.0/24", "2001:db8::/32"],
      listen: { host: "0.0.0.0", trustProxy: ["10.0.0.1"] },
      mask: { keys: ["iban", "tax_id"] },
    });
  });

  it("a secret loses its last newline, and an empty variable counts as not set", () => {
    const config = loadConfig({ ...BASE, SIGNING_SECRET: "a-secret-of-some-length\n", PORT: "" });
    expect(config.authentication.signing.secrets).toEqual(["a-secret-of-some-length"]);
    expect(config.listen.port).toBe(8080);
  });

  it.each([
    [{ PORT: "70000" }, 'PORT: got "70000", expected a whole number from 0 to 65535 (0: any free port)'],
    [{ CAPTURE: "yes" }, 'CAPTURE: got "yes", expected on or off; in production off'],
    [{ APP_ENV: "prod" }, 'APP_ENV: got "prod", expected development, test or production'],
    [{ SIGNING_SECRET: "short" }, "SIGNING_SECRET: got a value of 5 bytes, expected at least 16 bytes"],
    [
      { SIGNING_SECRET: " a-secret-of-some-length" },
      "SIGNING_SECRET: got a value with white space around it, expected none",
    ],
    [
      { ENCRYPTION_KEY: "abc" },
      "ENCRYPTION_KEY: got a value of 3 bytes, expected 32 bytes as base64 or 64 hexadecimal digits",
    ],
    [
      { ADMIN_TOKEN: "with space in it, see" },
      "ADMIN_TOKEN: got a value of 21 bytes, expected at least 16 printable characters without spaces",
    ],
    [
      { RATE_LIMIT_CALLBACK: "ten" },
      'RATE_LIMIT_CALLBACK: got "ten", expected a count per second, minute, hour or day, such as 10/minute, or off',
    ],
    [
      { TRUST_PROXY: "10.0.0.0/33" },
      'TRUST_PROXY: got "10.0.0.0/33", expected addresses or CIDR networks, separated by commas',
    ],
    [{ MAX_WAITING_CALLBACKS: "0" }, 'MAX_WAITING_CALLBACKS: got "0", expected a whole number from 1 to 100000'],
    [{ RETRY_MAX: "1.5" }, 'RETRY_MAX: got "1.5", expected a whole number from 0 to 100'],
    [
      { HANDLERS: "payment" },
      'HANDLERS: got "payment", expected some of user_authorized,payment_notify,webhook_message, or none',
    ],
    [{ HANDLERS: "," }, 'HANDLERS: got ",", expected some of user_authorized,payment_notify,webhook_message, or none'],
    [{ AUTH_METHOD: "basic" }, 'AUTH_METHOD: got "basic", expected hmac, token or jwt; a+b: both, a,b: either'],
    [{ AUTH_METHOD: "hmac+hmac" }, 'AUTH_METHOD: got "hmac+hmac", expected hmac, token or jwt; a+b: both, a,b: either'],
    [{ AUTH_METHOD: "hmac,token" }, "CALLBACK_TOKEN: is not set, expected with AUTH_METHOD=token"],
    [
      { CALLBACK_TOKEN: "short" },
      "CALLBACK_TOKEN: got a value of 5 bytes, expected at least 16 printable characters without spaces or commas",
    ],
    [{ ...JWT, JWT_ISSUER: "" }, "JWT_ISSUER: is not set, expected with AUTH_METHOD=jwt"],
    [{ ...JWT, JWT_SECRET: "" }, "JWT_ALGORITHM=HS256: got none of them, expected JWT_SECRET alone"],
    [
      { ...JWT, JWT_ALGORITHM: "RS256" },
      "JWT_ALGORITHM=RS256: got JWT_SECRET, expected JWT_PUBLIC_KEY_FILE or JWT_JWKS_URL alone",
    ],
    [{ ...JWT, JWT_ALGORITHM: "none" }, 'JWT_ALGORITHM: got "none", expected HS256, RS256, PS256, ES256 or EdDSA'],
    [{ ...JWT, JWT_SECRET: "too-short" }, "JWT_SECRET: got a value of 9 bytes, expected at least 32 bytes"],
    [{ OAUTH_ISSUER: "https://x" }, "OAUTH_CLIENT_ID: is not set, expected with OAUTH_ISSUER or OAUTH_TOKEN_URL"],
    [{ SMTP_URL: "smtp://x" }, "NOTIFY_EMAIL_TO: is not set, expected together with SMTP_URL"],
    [
      { NOTIFY_WEBHOOK_URL: "https://x.example", NOTIFY_WEBHOOK_SECRET: "whsec_c2hvcnQ=" },
      "NOTIFY_WEBHOOK_SECRET: got a value of 14 bytes, expected whsec_ and 24 to 64 bytes as base64",
    ],
    [
      { MAX_UNVERIFIED_BYTES: "1048575" },
      "MAX_UNVERIFIED_BYTES: got 1048575, expected at least MAX_BODY_BYTES (1048576), so that a body of that size can arrive",
    ],
    [{ HANDLER_TIMEOUT_MS: "30000" }, "HANDLER_TIMEOUT_MS: got 30000, expected less than REQUEST_TIMEOUT_MS (30000)"],
    [{ TLS_CERT_FILE: "c.pem" }, "TLS_KEY_FILE: is not set, expected together with TLS_CERT_FILE"],
    [
      { OAUTH_AUTHORIZATION_URL: "https://a.example", OAUTH_REVOCATION_URL: "https://a.example" },
      "OAUTH_AUTHORIZATION_URL, OAUTH_REVOCATION_URL: is set without OAUTH_TOKEN_URL, expected both",
    ],
    [
      { OAUTH_SCOPE: "openid email" },
      'OAUTH_SCOPE: got "openid email", expected openid only with OAUTH_ISSUER, which ID tokens are checked against',
    ],
    [{ OAUTH_CLIENT_ID: "x" }, "OAUTH_CLIENT_SECRET: is not set, expected together with OAUTH_CLIENT_ID"],
    [
      { OAUTH_CLIENT_ID: "x", OAUTH_CLIENT_SECRET: "y" },
      "OAUTH_ISSUER, OAUTH_TOKEN_URL: neither is set, expected one of them with OAUTH_CLIENT_ID",
    ],
    [
      {
        OAUTH_CLIENT_ID: "x",
        OAUTH_CLIENT_SECRET: "y",
        OAUTH_ISSUER: "https://a.example",
        OAUTH_TOKEN_URL: "https://b.example",
      },
      "OAUTH_TOKEN_URL: is set with OAUTH_ISSUER, expected either discovery or addresses",
    ],
    [
      { HOST: "0.0.0.0" },
      'HOST: got "0.0.0.0", expected a loopback address: without TLS_CERT_FILE or TRUST_PROXY plain HTTP is served to this machine only',
    ],
    [
      { CALLBACK_BASE_URL: "ftp://x.example.com" },
      'CALLBACK_BASE_URL: got "ftp://x.example.com", expected an http(s) address without query or fragment; in production a public https one',
    ],
    [
      { CALLBACK_BASE_URL: "http://127.0.0.1/?a=1" },
      "CALLBACK_BASE_URL: got an address with a query, expected one without",
    ],
    [{ OAUTH_SCOPE_PATH: "a/../b" }, 'OAUTH_SCOPE_PATH: got "a/../b", expected one or more path segments'],
    [
      { ADMIN_TOKEN: "a-secret-of-some-length" },
      "ADMIN_TOKEN: is the same as SIGNING_SECRET, expected a secret of its own",
    ],
    [{ SIGNING_SECRT: "x" }, "SIGNING_SECRT: is set, but there is no such variable; did you mean SIGNING_SECRET?"],
  ])("an invalid value is refused with what is expected: %j", (env, problem) => {
    expect(problems({ ...BASE, ...env })).toEqual([problem]);
  });

  it.each(["OAUTH_ISSUER", "OAUTH_AUTHORIZATION_URL", "OAUTH_TOKEN_URL", "OAUTH_REVOCATION_URL"])(
    "production requires https at every address of the authorization server: %s",
    (name) => {
      const { OAUTH_TOKEN_URL, ...others } = PRODUCTION;
      const address = name === "OAUTH_ISSUER" ? {} : { OAUTH_TOKEN_URL };
      expect(problems({ ...others, ...address, [name]: "http://platform.example.com/x" })).toEqual([
        `${name}: got "http://platform.example.com/x", expected an https address in production`,
      ]);
    },
  );

  it("all problems are reported at once", () => {
    expect(problems({ ...BASE, PORT: "x", RETRY_MAX: "x", LOG_LEVEL: "x" })).toHaveLength(3);
  });

  it("a problem never shows a secret", () => {
    const names = ["SIGNING_SECRET", "SIGNING_SECRET_PREVIOUS", "ADMIN_TOKEN", "ENCRYPTION_KEY", "OAUTH_CLIENT_SECRET"];
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.string({ minLength: 12 }), (name, value) => {
        fc.pre(value.trim().length > 11);
        expect(problems({ ...BASE, [name]: value, PORT: "x" }).join("\n")).not.toContain(value.trim());
      }),
    );
  });
});

describe("production", () => {
  it("production starts with everything set", () => {
    expect(loadConfig(PRODUCTION)).toMatchObject({
      environment: "production",
      basePath: "/hooks",
      listen: { host: "0.0.0.0" },
    });
  });

  it.each([
    [
      "SIGNING_SECRET",
      "is not set; in production the built-in protocol (`platform`) needs the secret that its sender shares, or other sources",
    ],
    ["ENCRYPTION_KEY", "is not set; production needs 32 bytes as base64"],
    ["ADMIN_TOKEN", "is not set; production needs at least 16 characters"],
    ["CALLBACK_BASE_URL", "is not set; production needs the https address"],
    ["TRUST_PROXY", "neither is set; production needs HTTPS"],
  ])("production refuses to start without %s", (name, message) => {
    const { [name]: _, ...env } = PRODUCTION as Record<string, string>;
    expect(problems(env).join("\n")).toContain(message);
  });

  it("production refuses user_authorized without a token endpoint, and names how to switch it off", () => {
    const { OAUTH_TOKEN_URL: _url, OAUTH_CLIENT_ID: _id, OAUTH_CLIENT_SECRET: _secret, ...env } = PRODUCTION;
    expect(problems(env)).toEqual([expect.stringContaining("HANDLERS=payment_notify,webhook_message")]);
    expect(problems({ ...env, HANDLERS: "payment_notify" })).toEqual([]);
  });

  it.each([
    ["user_authorized,payment_notify", "payment_notify"],
    ["user_authorized", "none"],
  ])("the advice without OAuth settings keeps the other handlers of HANDLERS=%s, and adds none", (given, kept) => {
    const { OAUTH_TOKEN_URL: _url, OAUTH_CLIENT_ID: _id, OAUTH_CLIENT_SECRET: _secret, ...env } = PRODUCTION;
    expect(problems({ ...env, HANDLERS: given })).toEqual([
      expect.stringMatching(new RegExp(`switch it off with HANDLERS=${kept}$`)),
    ]);
    expect(problems({ ...env, HANDLERS: kept })).toEqual([]);
  });

  it("a command that opens no listener needs neither TLS nor OAuth, and everything else", () => {
    const {
      TRUST_PROXY: _proxy,
      OAUTH_TOKEN_URL: _url,
      OAUTH_CLIENT_ID: _id,
      OAUTH_CLIENT_SECRET: _s,
      ...env
    } = PRODUCTION;
    expect(problems(env)).toHaveLength(2);
    expect(loadConfig(env, {}, { listens: false })).toMatchObject({ environment: "production" });
    expect(() => loadConfig({ ...env, SIGNING_SECRET: "short" }, {}, { listens: false })).toThrow("at least 32 bytes");
  });

  it("production requires all 32 bytes of SIGNING_SECRET at once, also where it is shorter than 16", () => {
    expect(problems({ ...PRODUCTION, SIGNING_SECRET: "sX9-q" })).toEqual([
      "SIGNING_SECRET: got a value of 5 bytes, expected at least 32 bytes in production",
    ]);
  });

  it.each([
    ["SIGNING_SECRET", "only-twenty-bytes-ok", "got a value of 20 bytes, expected at least 32 bytes in production"],
    ["CALLBACK_BASE_URL", "http://pay.example.com", "expected an https address in production"],
    ["CALLBACK_BASE_URL", "https://localhost", "expected a host that platforms can reach"],
    ["CALLBACK_BASE_URL", "https://10.1.2.3", "expected a host that platforms can reach"],
    ["OAUTH_TOKEN_URL", "http://platform.example.com/token", "expected an https address in production"],
    ["CAPTURE", "on", "got on, expected off in production"],
    ["JWT_JWKS_URL", "http://platform.example.com/keys", "expected an https address in production"],
  ])("production refuses %s=%s", (name, value, message) => {
    expect(problems({ ...PRODUCTION, [name]: value }).join("\n")).toContain(message);
  });
});
