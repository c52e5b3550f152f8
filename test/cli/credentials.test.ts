import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { certificate } from "../support/certificate.ts";
import { runCommandLine } from "../support/command.ts";
import { type Dialect, describeFullOnPostgres } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { payment, SECRET, type TestReceiver, TOKEN, withReceiver } from "../support/receiver.ts";

const CALLBACK_TOKEN = "the-token-the-platform-sends";
const KEY = Buffer.alloc(32, 7).toString("base64");
const JWT_ENV = {
  AUTH_METHOD: "hmac+jwt",
  JWT_ALGORITHM: "HS256",
  JWT_SECRET: "a-jwt-secret-of-32-bytes-or-more",
  JWT_ISSUER: "https://platform.example",
  JWT_AUDIENCE: "oncehook",
  JWT_BODY_CLAIM: "body_sha256",
};

type Env = Record<string, string>;

/** Lends a receiver, and the command line with the same variables. */
function withCommand(
  env: Env,
  use: (receiver: TestReceiver, run: (...args: string[]) => ReturnType<typeof runCommandLine>) => Promise<void>,
  dialect: Dialect = "sqlite",
): Promise<void> {
  return withReceiver(
    dialect,
    async (receiver) => {
      const folder = await mkdtemp(join(tmpdir(), "oncehook-cli-"));
      const variables = {
        PATH: process.env.PATH,
        APP_ENV: "test",
        SIGNING_SECRET: SECRET,
        ADMIN_TOKEN: TOKEN,
        ENCRYPTION_KEY: KEY,
        CALLBACK_BASE_URL: receiver.publicOrigin,
        DATABASE_URL: receiver.target.url,
        NO_COLOR: "1",
        ...env,
      };
      try {
        await use(receiver, (...args) => runCommandLine(args, variables, folder));
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
    { env },
  );
}

describe("oncehook send", () => {
  it.each([
    [{ AUTH_METHOD: "token", CALLBACK_TOKEN }],
    [{ AUTH_METHOD: "hmac+token", CALLBACK_TOKEN, CALLBACK_TOKEN_HEADER: "Authorization" }],
    [JWT_ENV],
  ])("send sets the credential that the receiver requires: %j", (env) =>
    withCommand(env as Env, async (_receiver, run) => {
      const { code, stdout } = await run("send", "payment_notify");
      expect(stdout).toContain('"status":"success"');
      expect(code).toBe(0);
    }),
  );

  it("send reports that it holds no private key", async () => {
    const folder = await mkdtemp(join(tmpdir(), "oncehook-cli-"));
    try {
      await writeFile(join(folder, "key.pem"), "");
      const env = { ...JWT_ENV, JWT_ALGORITHM: "RS256", JWT_SECRET: "", JWT_PUBLIC_KEY_FILE: "key.pem" };
      const { code, stderr } = await runCommandLine(
        ["send", "payment_notify"],
        { PATH: process.env.PATH, APP_ENV: "test", ...env },
        folder,
      );
      expect(stderr).toContain("for a trial use JWT_ALGORITHM=HS256");
      expect(code).toBe(1);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe("oncehook oauth state", () => {
  it("oncehook oauth state makes the running receiver expect a state that the platform will bring back", () =>
    withCommand({}, async (receiver, run) => {
      const state = "a-state-of-the-platforms-own";
      const { port } = new URL(receiver.adminOrigin);
      const { code, stdout } = await run("oauth", "state", state, "--expires-in", "60", `--admin-port=${port}`);
      expect(stdout).toMatch(/^the state is expected until 20\S+Z\n$/);
      expect(code).toBe(0);
      const answer = await fetch(`${receiver.publicOrigin}/api/platform/oauth-callback?code=c&state=${state}`);
      expect(await answer.json()).toMatchObject({ status: "success" });
    }));

  it.each([
    [["short"], "the receiver answered 400", 2],
    [["a-state-of-the-platforms-own", "--expires-in", "soon"], "Expected a whole number", 2],
    [["a-state-of-the-platforms-own", "--admin-port=1"], "Is the receiver running", 1],
  ])("oncehook oauth state reports what is wrong with %j", (args, problem, exit) =>
    withCommand({}, async (receiver, run) => {
      const { port } = new URL(receiver.adminOrigin);
      const where = args.some((arg) => arg.startsWith("--admin-port")) ? [] : [`--admin-port=${port}`];
      const { code, stderr } = await run("oauth", "state", ...args, ...where);
      expect(stderr).toContain(problem);
      expect(code).toBe(exit);
    }),
  );
});

describe("oncehook doctor", () => {
  it("doctor names the channel whose address is not allowed", () =>
    withCommand(
      {
        NOTIFY_WEBHOOK_URL: "https://127.0.0.1:9/",
        NOTIFY_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 3).toString("base64")}`,
      },
      async (_receiver, run) => {
        const { code, stdout } = await run("doctor");
        expect(stdout).toMatch(/FAILURE +notifications: webhook: 127\.0\.0\.1 is not a public address/);
        expect(code).toBe(1);
      },
    ));

  it("doctor names a webhook by its channel, since its address may be a secret", () =>
    withCommand(
      {
        NOTIFY_WEBHOOK_URL: "https://127.0.0.1:9/services/the-secret-of-this-hook",
        NOTIFY_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 3).toString("base64")}`,
        NOTIFY_ALLOW_ADDRESSES: "127.0.0.0/8",
      },
      async (_receiver, run) => {
        const { stdout } = await run("doctor");
        expect(stdout).toContain("notifications: webhook: its host has an allowed address");
        expect(stdout).not.toContain("the-secret-of-this-hook");
      },
    ));

  it("doctor checks the addresses of alerts, beside the log of all other notifications", () =>
    withCommand({ ALERT_SLACK_URL: "https://127.0.0.1:9/services/a-secret" }, async (_receiver, run) => {
      const { code, stdout } = await run("doctor");
      expect(stdout).toMatch(/FAILURE +notifications: Slack: 127\.0\.0\.1 is not a public address/);
      expect(stdout).toContain("notifications: go to the log");
      expect(code).toBe(1);
    }));

  it("doctor reports that NOTIFY_CA_FILE holds no certificate", async () => {
    const folder = await mkdtemp(join(tmpdir(), "oncehook-ca-"));
    const NOTIFY_CA_FILE = join(folder, "ca.pem");
    await writeFile(NOTIFY_CA_FILE, (await certificate("ca")).cert);
    await withCommand({ NOTIFY_CA_FILE }, async (_receiver, run) => {
      await writeFile(NOTIFY_CA_FILE, "nothing of the kind");
      const { code, stdout } = await run("doctor");
      expect(stdout).toMatch(/FAILURE +notifications: NOTIFY_CA_FILE: .* holds no certificate/);
      expect(code).toBe(1);
    });
    await rm(folder, { recursive: true });
  });

  it.each([
    [{}, "ok      oauth: the sandbox platform stands in", 0],
    [
      { OAUTH_ISSUER: "http://127.0.0.1:1", OAUTH_CLIENT_ID: "us", OAUTH_CLIENT_SECRET: "secret-of-ours" },
      "FAILURE oauth: OAUTH_ISSUER: http://127.0.0.1:1 cannot be discovered",
      1,
    ],
  ])("doctor reports whether the authorization server can be discovered: %j", (env, finding, exit) =>
    withCommand(env as Env, async (_receiver, run) => {
      const { code, stdout } = await run("doctor");
      expect(stdout).toContain(finding);
      expect(code).toBe(exit);
    }),
  );

  it("doctor reports a platform key that fits none of the algorithms", { tags: "full" }, async () => {
    const folder = await mkdtemp(join(tmpdir(), "oncehook-cli-"));
    try {
      const { publicKey } = generateKeyPairSync("ed25519");
      await writeFile(join(folder, "key.pem"), publicKey.export({ type: "spki", format: "pem" }));
      const env = { ...JWT_ENV, JWT_ALGORITHM: "RS256", JWT_SECRET: "", JWT_PUBLIC_KEY_FILE: "key.pem" };
      const variables = { PATH: process.env.PATH, APP_ENV: "test", NO_COLOR: "1", ...env };
      const problem =
        'JWT_PUBLIC_KEY_FILE: got "key.pem", which cannot be used: block 1: got ed25519, ' +
        "expected an RSA key of at least 2048 bits for JWT_ALGORITHM=RS256";
      const doctor = await runCommandLine(["doctor"], variables, folder);
      expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringContaining(problem)]);
      const serve = await runCommandLine(["serve"], variables, folder);
      expect([serve.code, serve.stderr]).toEqual([1, expect.stringContaining(problem)]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it("doctor reports when the platform's keys cannot be fetched", () =>
    withCommand(
      {
        ...JWT_ENV,
        JWT_ALGORITHM: "ES256",
        JWT_SECRET: "",
        JWT_JWKS_URL: "http://127.0.0.1:1/jwks",
      },
      async (_receiver, run) => {
        expect((await run("doctor")).stdout).toMatch(/FAILURE +authentication: JWT_JWKS_URL: http:\S+ does not answer/);
      },
    ));
});

describeFullOnPostgres("oncehook doctor on %s", (dialect) => {
  it("doctor names unconfigured channels that notifications wait for", () =>
    withCommand(
      {},
      async (receiver, run) => {
        await receiver.send(payment());
        for (const channel of ["log", "email:gone@example.com"])
          await execute(
            receiver.target,
            `INSERT INTO oncehook_deliveries (notification_id, channel, state, attempts, next_attempt_at)
              SELECT id, '${channel}', 'waiting', 0, created_at FROM oncehook_notifications`,
          );
        const { code, stdout } = await run("doctor");
        expect(stdout.match(/warning +notifications: .*/g)).toEqual([
          expect.stringContaining("1 notification waits for the channel email:gone@example.com, which is not"),
        ]);
        expect(code).toBe(0);
      },
      dialect,
    ));
});
