import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { signHmac } from "../../src/index.ts";
import { withDatabase } from "../support/databases.ts";
import { withFolder } from "../support/folder.ts";
import { freePort } from "../support/free-port.ts";
import { withHttpServer } from "../support/http-server.ts";
import { type Laptop, type Listening, startListening, withLaptop } from "../support/laptop.ts";
import { rawExchange } from "../support/raw-exchange.ts";
import { payment, SECRET, startReceiver, type TestReceiver, TOKEN, withReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { withWire } from "../support/wire.ts";

const LISTEN = { CAPTURE: "on", CALLBACK_BASE_URL: "http://127.0.0.1:8080/hooks" };
const PATH = "/hooks/api/platform/callback";
const LIMIT_MS = 60_000;

/** The options of a run that goes on where the one before has stopped. */
function withState(from: string, laptop: Laptop, folder: string): string[] {
  return ["--from", from, "--to", `${laptop.origin}/hook`, "--state", join(folder, "state.json")];
}

function withDeployed(use: (receiver: TestReceiver, from: string) => Promise<void>): Promise<void> {
  return withReceiver("sqlite", (receiver) => use(receiver, `${receiver.publicOrigin}/hooks`), {
    env: LISTEN,
  });
}

async function withListening(
  args: readonly string[],
  use: (listening: Listening) => Promise<void>,
  env?: Record<string, string>,
  cwd?: string,
): Promise<void> {
  const listening = startListening(args, env, cwd);
  try {
    await until(() => listening.stderr().includes("listening to"), LIMIT_MS);
    await use(listening);
  } finally {
    listening.child.kill("SIGKILL");
  }
}

/** As a receiver that was started in the folder leaves it. */
async function writeGeneratedToken(folder: string): Promise<void> {
  const secrets = { SIGNING_SECRET: SECRET, ENCRYPTION_KEY: "k".repeat(43), ADMIN_TOKEN: TOKEN };
  await mkdir(join(folder, "data"));
  const file = join(folder, "data", "secrets.development.json");
  await writeFile(file, JSON.stringify(secrets), { mode: 0o600 });
}

const came = ({ arrived }: Laptop, count: number) => until(() => arrived.length >= count, LIMIT_MS);
const ids = ({ arrived }: Laptop) => arrived.map(({ eventId }) => eventId);

describe("oncehook listen", () => {
  it("oncehook listen delivers the same bytes and headers, in order and spelling, without the connection's own", () =>
    withDeployed((receiver, from) =>
      withLaptop((laptop) =>
        withListening(["--from", from, "--to", `${laptop.origin}/hook?a=b`], async () => {
          const body = Buffer.concat([
            Buffer.from(`{"event_id":"e1","event_type":"payment_notify","timestamp":1,`),
            Buffer.from(`  "data": {"order_id":"\u00e9\\u00e9","amount":1.50}}\n`),
          ]);
          const head = [
            `POST ${PATH}?x=1 HTTP/1.1`,
            "hOst: dev.example.com",
            `X-Signature: ${signHmac(SECRET, body)}`,
            "x-ODD: one",
            "x-ODD: tw\u00f6",
            "X-Gone: said of the connection",
            `Content-Length: ${body.length}`,
            "Connection: close, x-gone",
          ].join("\r\n");
          await rawExchange(receiver.publicOrigin, Buffer.concat([Buffer.from(`${head}\r\n\r\n`, "latin1"), body]));
          await came(laptop, 1);
          const [arrived] = laptop.arrived;
          expect(arrived).toMatchObject({ method: "POST", url: "/hook?a=b", body, isAuthentic: true });
          expect(arrived?.rawHeaders).toEqual([
            ...["X-Signature", signHmac(SECRET, body), "x-ODD", "one", "x-ODD", "tw\u00f6"],
            ...["Host", new URL(laptop.origin).host, "Content-Length", String(body.length)],
            ...["Connection", "close"],
          ]);
        }),
      ),
    ));

  it("oncehook listen delivers refused callbacks too, with their own path and query where --to has no path", () =>
    withDeployed((receiver, from) =>
      withLaptop((laptop) =>
        withListening(["--from", from, "--to", laptop.origin], async (listening) => {
          await receiver.send(payment({ event_id: "forged" }), {
            path: `${PATH}?q=1`,
            secret: "x".repeat(32),
          });
          await receiver.send({}, { path: "/hooks/api/v2/platform/callback", raw: "not JSON\u001b[31m" });
          await receiver.send({}, { path: "/hooks/api/elsewhere" });
          await receiver.send(payment({ event_id: "good" }), { path: PATH });
          await came(laptop, 3);
          expect(laptop.arrived.map(({ url, isAuthentic }) => [url, isAuthentic])).toEqual([
            [`${PATH}?q=1`, false],
            ["/hooks/api/v2/platform/callback", true],
            [PATH, true],
          ]);
          await until(() => listening.stdout().split("\n").length === 4, LIMIT_MS);
          expect(listening.stdout()).toMatch(/^\d\d:\d\d:\d\d {2}payment_notify +forged +200 {2}\d+ ms$/m);
          expect(listening.stdout()).not.toContain("\u001b[31m");
        }),
      ),
    ));

  it("oncehook listen waits for a server that is not running, reports it once, and delivers the callbacks afterwards", () =>
    withDeployed(async (receiver, from) => {
      const port = await freePort();
      const gone = `http://127.0.0.1:${port}`;
      await withListening(["--from", from, "--to", `${gone}/hook`], async (listening) => {
        await receiver.send(payment({ event_id: "e1" }), { path: PATH });
        await receiver.send(payment({ event_id: "e2" }), { path: PATH });
        await until(() => listening.stderr().includes("does not answer (ECONNREFUSED)"), LIMIT_MS);
        await withLaptop(async (laptop) => {
          await came(laptop, 2);
          expect(ids(laptop)).toEqual(["e1", "e2"]);
          await until(() => listening.stderr().includes("answers again"), LIMIT_MS);
          expect(listening.stderr().match(/does not answer/g)).toHaveLength(1);
        }, port);
      });
    }));

  it("oncehook listen counts any response as delivered and continues", () =>
    withDeployed((receiver, from) =>
      withLaptop((laptop) =>
        withListening(["--from", from, "--to", `${laptop.origin}/hook`, "--json"], async (listening) => {
          laptop.answer.status = 500;
          await receiver.send(payment({ event_id: "e1" }), { path: PATH });
          await came(laptop, 1);
          await until(() => listening.stdout().includes("\n"), LIMIT_MS);
          laptop.answer.status = 200;
          await receiver.send(payment({ event_id: "e2" }), { path: PATH });
          await until(() => listening.stdout().split("\n").length === 3, LIMIT_MS);
          const lines = listening.stdout().trim().split("\n");
          expect(lines.map((line) => JSON.parse(line))).toMatchObject([
            { event_id: "e1", event_type: "payment_notify", method: "POST", url: PATH, status: 500 },
            { event_id: "e2", status: 200, duration_ms: expect.any(Number) },
          ]);
          expect(ids(laptop)).toEqual(["e1", "e2"]);
        }),
      ),
    ));

  it("oncehook listen starts with new callbacks, or with recent ones", () =>
    withDeployed((receiver, from) =>
      withLaptop(async (laptop) => {
        await receiver.send(payment({ event_id: "before" }), { path: PATH });
        await until(async () => (await receiver.count("oncehook_captured_requests")) === 1, LIMIT_MS);
        const to = ["--from", from, "--to", `${laptop.origin}/hook`];
        await withListening(to, async () => {
          await receiver.send(payment({ event_id: "after" }), { path: PATH });
          await came(laptop, 1);
          expect(ids(laptop)).toEqual(["after"]);
        });
        await withListening([...to, "--since", "10m"], async () => {
          await came(laptop, 3);
          expect(ids(laptop)).toEqual(["after", "before", "after"]);
        });
      }),
    ));

  it("oncehook listen continues with --state where the previous run stopped, after the delivery that was running", () =>
    withFolder((folder) =>
      withDeployed((receiver, from) =>
        withLaptop(async (laptop) => {
          const args = withState(from, laptop, folder);
          const held = Promise.withResolvers<void>();
          laptop.answer.until = held.promise;
          await withListening(args, async (listening) => {
            await receiver.send(payment({ event_id: "e1" }), { path: PATH });
            await receiver.send(payment({ event_id: "e2" }), { path: PATH });
            await came(laptop, 1);
            const interrupted = listening.interrupt();
            await until(() => listening.stderr().includes("Ctrl-C again"), LIMIT_MS);
            held.resolve();
            expect(await interrupted).toBe(0);
            expect(listening.stderr()).toContain("1 delivered");
          });
          expect(ids(laptop)).toEqual(["e1"]);
          await withListening(args, async () => {
            await came(laptop, 2);
            expect(ids(laptop)).toEqual(["e1", "e2"]);
          });
        }),
      ),
    ));

  it("oncehook listen ends at the second Ctrl-C where the server does not respond, and delivers that callback again", () =>
    withFolder((folder) =>
      withDeployed((receiver, from) =>
        withLaptop(async (laptop) => {
          const args = withState(from, laptop, folder);
          laptop.answer.until = new Promise(() => {});
          await withListening(args, async (listening) => {
            await receiver.send(payment({ event_id: "e1" }), { path: PATH });
            await came(laptop, 1);
            void listening.interrupt();
            await until(() => listening.stderr().includes("Ctrl-C again"), LIMIT_MS);
            expect(await listening.interrupt()).toBe(0);
          });
          delete laptop.answer.until;
          await withListening(args, async () => {
            await came(laptop, 2);
            expect(ids(laptop)).toEqual(["e1", "e1"]);
          });
        }),
      ),
    ));

  it("oncehook listen forwards to a local receiver what it can verify and handle", () =>
    withDeployed((receiver, from) =>
      withReceiver(
        "sqlite",
        (local) =>
          withListening(["--from", from, "--to", local.publicOrigin], async (listening) => {
            await receiver.send(payment({ event_id: "e1" }), { path: PATH });
            await until(() => listening.stdout().includes("\n"), LIMIT_MS);
            expect(listening.stdout()).toMatch(/ e1 +200 /);
            expect(await local.count("oncehook_records", "event_id = 'e1'")).toBe(1);
          }),
        { env: { CALLBACK_BASE_URL: LISTEN.CALLBACK_BASE_URL } },
      ),
    ));

  it("oncehook listen uses the token generated in its folder, where none is set", () =>
    withFolder((folder) =>
      withDeployed(async (_receiver, from) => {
        await writeGeneratedToken(folder);
        const args = ["--from", from, "--to", "http://127.0.0.1:9/hook"];
        await withListening(args, async (listening) => expect(await listening.interrupt()).toBe(0), {}, folder);
      }),
    ));

  it("oncehook listen waits as long as the receiver's Retry-After", () =>
    withHttpServer(
      (_request, response) => response.writeHead(429, { "retry-after": "3600" }).end(),
      async (origin) => {
        const listening = startListening(["--from", origin, "--to", "http://127.0.0.1:9/hook"]);
        await until(() => listening.stderr().includes("answered 429, and asks for a pause of 3600 s"), LIMIT_MS);
        expect(await listening.interrupt()).toBe(0);
      },
    ));

  it("oncehook listen starts with the first callback of an unknown database", () =>
    withFolder((folder) =>
      withLaptop(async (laptop) => {
        const state = join(folder, "state.json");
        await withDeployed(async (receiver, from) => {
          await receiver.send(payment({ event_id: "e1" }), { path: PATH });
          await until(async () => (await receiver.count("oncehook_captured_requests")) === 1, LIMIT_MS);
          await writeFile(state, JSON.stringify({ from: new URL(from).href, place: `${"0".repeat(16)}.500` }));
          const args = ["--from", from, "--to", `${laptop.origin}/hook`, "--state", state];
          await withListening(args, async (listening) => {
            await came(laptop, 1);
            expect(listening.stderr()).toContain("the receiver's database is another one");
            await until(async () => /\.1"/.test(await readFile(state, "utf8")), LIMIT_MS);
          });
        });
      }),
    ));

  it("oncehook listen continues after its receiver restarts", () =>
    withDatabase("sqlite", (target) =>
      withLaptop(async (laptop) => {
        const env = { ...LISTEN, PORT: String(await freePort()) };
        const first = await startReceiver(target, { env });
        const from = `${first.publicOrigin}/hooks`;
        await withListening(["--from", from, "--to", `${laptop.origin}/hook`], async (listening) => {
          await first.send(payment({ event_id: "e1" }), { path: PATH });
          await came(laptop, 1);
          await first.stop();
          await until(() => listening.stderr().includes("trying again"), LIMIT_MS);
          const second = await startReceiver(target, { env });
          await second.send(payment({ event_id: "e2" }), { path: PATH });
          await came(laptop, 2);
          expect(ids(laptop)).toEqual(["e1", "e2"]);
          await second.stop();
        });
      }),
    ));

  it(
    "oncehook listen detects a silent connection that was not closed",
    () =>
      withDeployed((receiver, from) =>
        withWire(from, (wire) =>
          withLaptop((laptop) =>
            withListening(["--from", wire.through(from), "--to", `${laptop.origin}/hook`], async (listening) => {
              wire.silence();
              await receiver.send(payment({ event_id: "e1" }), { path: PATH });
              await came(laptop, 1);
              expect(listening.stderr()).toContain("the receiver has said nothing for 15 s");
            }),
          ),
        ),
      ),
    120_000,
  );
});

describe("oncehook listen says what to do", () => {
  const TO = ["--to", "http://127.0.0.1:9/hook"];

  async function refusal(
    args: readonly string[],
    env?: Record<string, string>,
    cwd?: string,
    exits = 1,
  ): Promise<string> {
    const listening = startListening(args, env, cwd);
    await until(() => listening.child.exitCode !== null, LIMIT_MS);
    expect(listening.child.exitCode).toBe(exits);
    return listening.stderr();
  }

  it("oncehook listen names a token that differs from the receiver's", () =>
    withDeployed(async (_receiver, from) => {
      const words = await refusal(["--from", from, ...TO], { ADMIN_TOKEN: "another-token-of-some-length" });
      expect(words).toContain("answered 401: ADMIN_TOKEN here is another than the receiver's");
    }));

  it("oncehook listen says that the receiver has CAPTURE switched off", () =>
    withReceiver("sqlite", async ({ publicOrigin }) => {
      expect(await refusal(["--from", publicOrigin, ...TO])).toContain("start that receiver with CAPTURE=on");
    }));

  it("oncehook listen says that another program answers", () =>
    withHttpServer(
      (_request, response) => response.end("<html>"),
      async (origin) => {
        expect(await refusal(["--from", origin, ...TO])).toContain("answered something else than callbacks");
      },
    ));

  it("oncehook listen names a closed port and an unknown host", async () => {
    expect(await refusal(["--from", "http://127.0.0.1:9", ...TO])).toContain("Does the receiver run there?");
    expect(await refusal(["--from", "https://nobody.invalid", ...TO])).toMatch(/there is no host|EAI_AGAIN/);
  });

  it("oncehook listen says that TLS does not match", () =>
    withHttpServer(
      (_request, response) => response.end(),
      async (origin) => {
        const words = await refusal(["--from", origin.replace("http:", "https:"), ...TO]);
        expect(words).toContain("NODE_EXTRA_CA_CERTS");
      },
    ));

  it("oncehook listen without a token fails, and generates none", () =>
    withFolder(async (folder) => {
      const words = await refusal(["--from", "http://127.0.0.1:9", ...TO], {}, folder);
      expect(words).toContain("ADMIN_TOKEN: is not set");
    }));

  it("oncehook listen requires a token for a remote receiver, and does not send it the generated one", () =>
    withFolder(async (folder) => {
      await writeGeneratedToken(folder);
      const words = await refusal(["--from", "https://nobody.invalid", ...TO], {}, folder);
      expect(words).toContain("ADMIN_TOKEN: is not set");
    }));

  it.each([
    [["--from", "http://dev.example.com", ...TO], "expected an https address"],
    [["--from", "dev.example.com", ...TO], "--from: got"],
    [["--from", "http://127.0.0.1:9", "--to", "3000"], "--to: got"],
    [["--from", "http://127.0.0.1:9", ...TO, "--since", "2d"], "--since: got"],
    [["--from", "http://127.0.0.1:9", ...TO, "--since", "25h"], "--since: got"],
  ])("oncehook listen refuses arguments such as %s", async (args, words) => {
    expect(await refusal(args, undefined, undefined, 2)).toContain(words);
  });

  it("oncehook listen refuses a state file of another receiver, and a file of another kind", () =>
    withFolder(async (folder) => {
      const state = join(folder, "state.json");
      await writeFile(state, JSON.stringify({ from: "https://other.example.com/", place: "p" }));
      const args = ["--from", "http://127.0.0.1:9", ...TO, "--state", state];
      expect(await refusal(args)).toContain("is of https://other.example.com/");
      await writeFile(state, "nothing");
      expect(await refusal(args)).toContain("is not what this command writes");
    }));
});
