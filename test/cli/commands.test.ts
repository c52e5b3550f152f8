import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { signHmac } from "../../src/index.ts";
import { certificate } from "../support/certificate.ts";
import { runCommandLine } from "../support/command.ts";
import { withDatabase } from "../support/databases.ts";
import { startServer } from "../support/process.ts";
import { SECRET, TOKEN } from "../support/receiver.ts";
import { NEWEST, SCHEMA } from "../support/schema-steps.ts";

async function inFolder<T>(
  use: (
    folder: string,
    run: (args: string[], env?: Record<string, string>) => ReturnType<typeof runCommandLine>,
  ) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-cli-"));
  const base = {
    PATH: process.env.PATH,
    APP_ENV: "test",
    SIGNING_SECRET: SECRET,
    ADMIN_TOKEN: TOKEN,
    NO_COLOR: "1",
  };
  try {
    return await use(folder, (args, env = {}) => runCommandLine(args, { ...base, ...env }, folder));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe("the command line", () => {
  it.each([
    "init",
    "serve",
    "send",
    "sign",
    "oauth",
    "events",
    "failures",
    "event",
    "replay",
    "discard",
    "notifications",
    "sources",
    "migrate",
    "copy",
    "doctor",
    "demo",
  ])("the command line explains %s with --help", (command) =>
    inFolder(async (_folder, run) => {
      const { code, stdout } = await run([command, "--help"]);
      expect(code).toBe(0);
      expect(stdout).toContain(`Usage: oncehook ${command}`);
    }),
  );

  it("the command line lists its commands and exit codes with --help", () =>
    inFolder(async (_folder, run) => {
      const { code, stdout } = await run(["--help"]);
      expect(code).toBe(0);
      expect(stdout).toContain("Exit codes: 0 success, 1 failure");
      const headings = [...stdout.matchAll(/^(\w+):$/gm)].map(([, heading]) => heading);
      expect(headings).toEqual(["Options", "Run", "Look", "Mend", "Database", "Develop"]);
    }));

  it("the command line suggests the command that was meant and exits 2", () =>
    inFolder(async (_folder, run) => {
      const { code, stderr } = await run(["serv"]);
      expect(code).toBe(2);
      expect(stderr).toContain("Did you mean serve?");
    }));

  it.each([
    ["callbacks", "tail"],
    ["start", "serve"],
    ["resend", "replay"],
    ["mute", "alerts mute"],
  ])("the command line suggests for the word %s of other tools the command %s, and exits 2", (word, command) =>
    inFolder(async (_folder, run) => {
      const { code, stderr } = await run([word]);
      expect([code, stderr]).toEqual([2, `oncehook: unknown command ${word}. Did you mean ${command}?\n`]);
    }),
  );

  it("the command line names every wrong variable without a stack, and exits 1", { tags: "full" }, () =>
    inFolder(async (_folder, run) => {
      const { code, stderr } = await run(["serve"], {
        PORT: "many",
        RETRY_MAX: "-1",
        RATE_LIMIT_CALBACK: "off",
      });
      expect(code).toBe(1);
      expect(stderr).toBe(
        "oncehook: the configuration is not valid\n" +
          "  RATE_LIMIT_CALBACK: is set, but there is no such variable; did you mean RATE_LIMIT_CALLBACK?\n" +
          '  PORT: got "many", expected a whole number from 0 to 65535 (0: any free port)\n' +
          '  RETRY_MAX: got "-1", expected a whole number from 0 to 100\n',
      );
    }),
  );

  it("a start reports a taken port without a stack", { tags: "full" }, () =>
    withDatabase("sqlite", async (target) => {
      const server = await startServer(target);
      await inFolder(async (_folder, run) => {
        const { code, stderr } = await run(["serve"], { PORT: new URL(server.url).port, ADMIN_PORT: "0" });
        expect(code).toBe(1);
        expect(stderr).toMatch(/^oncehook: PORT: port \d+ on 127\.0\.0\.1 is in use\. .+ set PORT to a free port$/m);
        expect(stderr).not.toContain("    at ");
      });
      server.child.kill("SIGTERM");
      await server.ended;
    }),
  );

  it.each([
    [
      "a folder that cannot be made",
      { DATABASE_URL: "sqlite:/dev/null/x/y.db", ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64") },
    ],
    [
      "a file that is no database",
      {
        DATABASE_URL: `sqlite:${process.cwd()}/package.json`,
        ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
      },
    ],
    ["a server that is not there", { DATABASE_URL: "postgres://127.0.0.1:1/x" }],
  ])("a start reports a database that cannot be opened, without a stack: %s", (_title, env) =>
    inFolder(async (_folder, run) => {
      const { code, stderr } = await run(["migrate"], env as Record<string, string>);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^oncehook: DATABASE_URL: the database cannot be opened: .+\n$/);
    }),
  );

  it("oncehook sign signs a file's bytes as the platform does", () =>
    inFolder(async (folder, run) => {
      await writeFile(join(folder, "body.json"), '{"a":1}\n');
      const { code, stdout } = await run(["sign", "body.json"]);
      expect([code, stdout]).toEqual([0, `${signHmac(SECRET, Buffer.from('{"a":1}\n'))}\n`]);
    }));

  it("oncehook sign --source prints the headers of the source's platform, one a line", () =>
    inFolder(async (folder, run) => {
      await writeFile(join(folder, "body.json"), '{"a":1}\n');
      const env = { SOURCES: "github", GITHUB_SECRET: "of-the-tests-alone" };
      const { code, stdout } = await run(
        ["sign", "body.json", "--source", "github", "--type", "push", "--id", "1"],
        env,
      );
      const digest = signHmac("of-the-tests-alone", Buffer.from('{"a":1}\n'));
      expect([code, stdout.split("\n")]).toEqual([
        0,
        expect.arrayContaining([
          "X-GitHub-Event: push",
          "X-GitHub-Delivery: 1",
          `X-Hub-Signature-256: sha256=${digest}`,
        ]),
      ]);
    }));

  it.each([
    [["sign", "body.json", "--type", "push"], "--type: is for a source; name it with --source", 2],
    [["sign", "body.json", "--source", "git"], '--source: got "git", which is no source here; there are mailgun', 2],
    [["sign", "body.json", "--source", "mailgun"], "mailgun is signed in its body; oncehook send --source mailgun", 1],
    [["sign", "body.json", "--source", "discord"], "no callback of Discord can be signed here", 1],
  ])("oncehook sign says why nothing can be signed: %j", (args, reason, exitCode) =>
    inFolder(async (folder, run) => {
      await writeFile(join(folder, "body.json"), "{}");
      // The public key of RFC 8032, 7.1, test 1.
      const key = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
      const env = { SOURCES: "mailgun,discord", MAILGUN_SECRET: "of-the-tests-alone", DISCORD_SECRET: key };
      const { code, stderr } = await run([...args], env);
      expect([code, stderr]).toEqual([exitCode, expect.stringContaining(reason)]);
    }),
  );

  it(
    "oncehook send prints the response to a signed callback, and the same id again is a duplicate",
    { tags: "full" },
    () =>
      withDatabase("sqlite", async (target) => {
        const server = await startServer(target);
        await inFolder(async (_folder, run) => {
          const env = {
            PORT: new URL(server.url).port,
            ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
          };
          const first = await run(
            ["send", "payment_notify", "--id", "evt-cli", "--data", '{"order_id":"o9","amount":1}'],
            env,
          );
          expect([first.code, first.stderr]).toEqual([0, ""]);
          expect(first.stdout).toContain('200\n{"status":"success","data":{"order_id":"o9"}}');
          const again = await run(["send", "payment_notify", "--id", "evt-cli"], env);
          expect(again.stdout).toContain('{"status":"already_processed"}');
          const unknown = await run(["send", "nobody_knows", "--data", "{}"], env);
          expect(unknown.code).toBe(1);
          expect(unknown.stdout).toContain("400\n");
        });
        server.child.kill("SIGTERM");
        await server.ended;
      }),
  );

  it.each([
    [["send", "payment_notify", "--data", "{"], '--data: got "{", expected a JSON object', 2],
    [
      ["send", "nobody_knows"],
      'oncehook: "nobody_knows" is no built-in type: for the built-in protocol (`platform`), add --data',
      2,
    ],
    [
      ["send", "payment_notify", "--url", "localhost:8080"],
      '--url: got "localhost:8080", expected an http(s) address',
      2,
    ],
    [["send", "payment_notify", "--timestamp", "now"], '--timestamp: got "now", expected whole seconds since 1970', 2],
    [["send", "payment_notify", "--url", "http://127.0.0.1:1/x"], "http://127.0.0.1:1/x did not answer on port 1: ", 1],
    [["send", "payment_notify", "--url", "http://localhost:3/x"], "on port 3: connect ECONNREFUSED", 1],
    [["sign", "missing.json"], 'oncehook: the file "missing.json" does not exist\n', 1],
    [["serve", "--env", "missing.env"], '--env: got "missing.env", which does not exist\n', 1],
  ])("the command line reports what was wrong with %j", (args, message, exits) =>
    inFolder(async (_folder, run) => {
      const { code, stderr } = await run(args);
      expect(code).toBe(exits);
      expect(stderr).toContain(message);
      expect(stderr).not.toContain("    at ");
    }),
  );

  it("oncehook migrate migrates a database and prints what it did", () =>
    inFolder(async (_folder, run) => {
      expect((await run(["migrate"])).stdout).toBe(
        [...SCHEMA, "built-in-users", "built-in-orders", "built-in-messages"]
          .map((name) => `applied ${name}\n`)
          .join(""),
      );
      expect((await run(["migrate"])).stdout).toBe("the database is up to date\n");
    }));

  it("generated development secrets are written once, readable by the owner alone", () =>
    inFolder(async (folder, run) => {
      const env = { SIGNING_SECRET: "", ADMIN_TOKEN: "", APP_ENV: "" };
      expect((await run(["migrate"], env)).code).toBe(0);
      const file = join(folder, "data", "secrets.development.json");
      const before = await readFile(file, "utf8");
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect((await run(["sign", "/dev/null"], env)).code).toBe(0);
      expect(await readFile(file, "utf8")).toBe(before);
    }));

  it("oncehook demo runs, and every line of it is right", { tags: "full" }, () =>
    inFolder(async (_folder, run) => {
      const { code, stdout } = await run(["demo"]);
      expect(stdout).not.toContain("WRONG");
      expect(stdout).toContain("All 16 checks passed: every event was handled exactly once.");
      expect(code).toBe(0);
    }),
  );
});

describe("oncehook doctor", () => {
  it("doctor finds no problem in a fresh folder", () =>
    inFolder(async (folder, run) => {
      const { code, stdout } = await run(["doctor"]);
      expect(code).toBe(0);
      expect(stdout).toContain("ok      database: is new: the first start creates the tables");
      await expect(stat(join(folder, "data", "oncehook.db"))).rejects.toThrow();
    }));

  it("doctor compares the registered address exactly", () =>
    inFolder(async (_folder, run) => {
      const env = { CALLBACK_BASE_URL: "http://127.0.0.1:8080/hooks" };
      const right = await run(["doctor", "--registered", "http://127.0.0.1:8080/hooks/api/platform/callback"], env);
      expect([right.code, right.stdout]).toEqual([0, expect.stringContaining("is registered and served")]);
      const wrong = await run(["doctor", "--registered", "http://127.0.0.1:8080/hooks/api/platform/callback/"], env);
      expect([wrong.code, wrong.stdout]).toEqual([1, expect.stringContaining("FAILURE address:")]);
      // The address of OAuth redirects is another one, and is none where no handler receives what they bring.
      expect(wrong.stdout).toContain("/oauth-callback");
      const none = await run(["doctor"], { ...env, HANDLERS: "payment_notify" });
      expect(none.stdout).toContain(
        "register one of these for callbacks of the built-in protocol (`platform`): http://",
      );
      expect(none.stdout).not.toContain("oauth-callback");
    }));

  it("doctor fails where environment files share a secret or an address, and shows no secret", () =>
    inFolder(async (folder, run) => {
      await writeFile(
        join(folder, ".env.test"),
        "SIGNING_SECRET=one-and-the-same-secret\nCALLBACK_BASE_URL=https://a.example.com\n",
      );
      await writeFile(
        join(folder, ".env.production"),
        "SIGNING_SECRET=one-and-the-same-secret\nCALLBACK_BASE_URL=https://a.example.com/\n",
      );
      const { code, stdout } = await run(["doctor"]);
      expect(code).toBe(1);
      expect(stdout.match(/FAILURE environments: /g)).toHaveLength(2);
      expect(stdout).not.toContain("one-and-the-same-secret");
    }));

  it("doctor reports a database of another environment, and one that does not respond", () =>
    inFolder(async (_folder, run) => {
      await run(["migrate"]);
      const other = await run(["doctor"], { APP_ENV: "development" });
      expect([other.code, other.stdout]).toEqual([
        1,
        expect.stringContaining("belongs to the environment test, not to development"),
      ]);
      const absent = await run(["doctor"], { DATABASE_URL: "postgres://postgres@127.0.0.1:1/none" });
      expect([absent.code, absent.stdout]).toEqual([1, expect.stringContaining("FAILURE database: does not respond")]);
    }));

  it("doctor reports that PostgreSQL is up to date", () =>
    withDatabase("postgres", (target) =>
      inFolder(async (_folder, run) => {
        await run(["migrate"], { DATABASE_URL: target.url });
        const { code, stdout } = await run(["doctor"], { DATABASE_URL: target.url });
        expect([code, stdout]).toEqual([
          0,
          expect.stringContaining(`ok      database: answers, schema ${NEWEST} of ${NEWEST}`),
        ]);
      }),
    ));

  it("doctor checks that the certificate is for the host of the base address", () =>
    inFolder(async (folder, run) => {
      const { cert, key } = await certificate("localhost");
      await writeFile(join(folder, "cert.pem"), cert);
      await writeFile(join(folder, "key.pem"), key);
      const env = { TLS_CERT_FILE: "cert.pem", TLS_KEY_FILE: "key.pem", HOST: "127.0.0.1" };
      expect((await run(["doctor"], { ...env, CALLBACK_BASE_URL: "https://localhost:8080" })).stdout).toContain(
        "ok      certificate: is for localhost",
      );
      const wrong = await run(["doctor"], { ...env, CALLBACK_BASE_URL: "https://pay.example.com" });
      expect([wrong.code, wrong.stdout]).toEqual([
        1,
        expect.stringContaining("certificate: is not for pay.example.com"),
      ]);
    }));
});
