import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createReceiver } from "../../src/embed/index.ts";
import { stripe } from "../../src/sources/platforms/index.ts";
import { application, CALLBACK_PATH, paid, requestOf, stripeCallback, VARIABLES } from "../support/application.ts";
import { describeFullOnPostgres, withDatabase, withMigrated } from "../support/databases.ts";
import { countOf } from "../support/effects.ts";

const send = (receiver: { fetch(request: Request): Promise<Response> }, callback = stripeCallback()) =>
  receiver.fetch(requestOf(callback));

describeFullOnPostgres("a receiver in an application, on %s", (dialect) => {
  it("a signed callback is handled once, whether it comes again or 64 times at once", () =>
    withMigrated(dialect, async (target) => {
      const runs: string[] = [];
      const { receiver } = application(target, {}, { handlers: [paid((id) => runs.push(id))] });
      const callback = stripeCallback();
      const first = await send(receiver, callback);
      expect([first.status, await first.json()]).toEqual([200, { status: "success", data: { id: callback.id } }]);
      const again = await send(receiver, callback);
      expect(await again.json()).toEqual({ status: "already_processed" });
      const other = stripeCallback();
      const answers = await Promise.all(Array.from({ length: 64 }, () => send(receiver, other)));
      const kinds = await Promise.all(
        answers.map(async (answer) => ((await answer.json()) as { status: string }).status),
      );
      expect(kinds.filter((kind) => kind === "success")).toHaveLength(1);
      expect(kinds.filter((kind) => kind === "already_processed")).toHaveLength(63);
      expect(runs).toEqual([callback.id, other.id]);
    }));

  it("work() retries what failed, and says whether all that is due is done", () =>
    withMigrated(dialect, async (target) => {
      let isDown = true;
      const fails = paid(() => {
        if (isDown) throw new Error("down");
      });
      const source = stripe({ secret: "whsec_of_an_application_1f0c", retry: { for: "1h", first: "1s" } });
      const file = { handlers: [fails], sources: { billing: source } };
      const { receiver } = application(target, { background: "none" }, file);
      const callback = stripeCallback();
      expect((await send(receiver, callback)).status).toBe(500);
      isDown = false;
      await sleep(1_100);
      expect(await receiver.work({ budgetMs: 5_000 })).toEqual({ ran: 1, isDone: true });
      expect(await (await send(receiver, callback)).json()).toEqual({ status: "already_processed" });
      expect(await countOf(target, "oncehook_failures")).toBe(0);
    }));
});

describe("a receiver in an application", () => {
  it("a forged callback is refused with the least detail", () =>
    withDatabase("sqlite", async (target) => {
      const { receiver } = application(target);
      const answer = await send(receiver, stripeCallback("evt_forged", "whsec_of_somebody_else"));
      expect([answer.status, await answer.json()]).toEqual([401, { error: "invalid signature" }]);
    }));

  it("other addresses are left to the application, and nothing of them is counted", () =>
    withDatabase("sqlite", async (target) => {
      const { receiver } = application(target);
      expect((await receiver.fetch(new Request("https://app.example/orders"))).status).toBe(404);
      await expect(countOf(target, "oncehook_callbacks")).rejects.toThrow();
    }));

  it("nothing is opened before the first use", () =>
    withDatabase("sqlite", async (target) => {
      const { receiver } = application(target);
      await expect(countOf(target, "oncehook_records")).rejects.toThrow();
      await receiver.ready();
      expect(await countOf(target, "oncehook_records")).toBe(0);
    }));

  it("a callback gets 503 while the database cannot be opened, and the next one tries again", () =>
    withDatabase("sqlite", async (target) => {
      const broken = { url: `${target.url}/a-file-is-no-folder.db` };
      await application(target).receiver.ready();
      const { receiver, lines } = application(broken);
      const answer = await send(receiver);
      expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
      expect(lines.map(({ level, msg }) => [level, msg])).toContainEqual([
        "error",
        expect.stringContaining("could not be opened"),
      ]);
      await expect(receiver.ready()).rejects.toThrow("DATABASE_URL");
    }));

  it("a body that something has read gets 500, with the remedy in the log alone", () =>
    withDatabase("sqlite", async (target) => {
      const { receiver, lines } = application(target);
      const request = requestOf(stripeCallback());
      await request.json();
      const answer = await receiver.fetch(request);
      expect([answer.status, await answer.json()]).toEqual([500, { error: "internal error" }]);
      expect(lines.filter(({ level }) => level === "error").map(({ msg }) => msg)).toContainEqual(
        expect.stringContaining("c.req.raw"),
      );
    }));

  it("a body that does not arrive in time gets 408", () =>
    withDatabase("sqlite", async (target) => {
      const variables = { ...VARIABLES, REQUEST_TIMEOUT_MS: "300", HANDLER_TIMEOUT_MS: "100" };
      const { receiver } = application(target, { variables });
      const endless = new ReadableStream({ pull: () => sleep(10_000, undefined, { ref: false }) });
      const init = { method: "POST", body: endless, duplex: "half" } as RequestInit;
      const answer = await receiver.fetch(new Request(`https://app.example${CALLBACK_PATH}`, init));
      expect(answer.status).toBe(408);
    }));

  it("every problem of a configuration is told at once, by the names that were given", () => {
    const config = { sources: { billing: stripe({ secret: "whsec_of_an_application_1f0c" }) } };
    expect(() => createReceiver({ ...config, handler: [] } as never, { databse: "x", variables: {} } as never)).toThrow(
      /databse: no such option; did you mean database\?[\s\S]*database: is not set[\s\S]*handler: no such key/,
    );
    expect(() => createReceiver(config, { database: "mysql://x", variables: VARIABLES })).toThrow(/^database: got/);
    const server = { ...VARIABLES, PORT: "8080" };
    expect(() => createReceiver(config, { database: "sqlite:x.db", variables: server })).toThrow(
      /^PORT: is of the oncehook server/,
    );
  });

  it("a variable that does not begin with ONCEHOOK_ is not read", () => {
    const given = {
      DATABASE_URL: "mysql://app",
      ENCRYPTION_KEY: "app",
      SMTP_URL: "mailhog:1025",
      LOG_LEVEL: "verbose",
      PORT: "x",
    };
    const before = { ...process.env };
    Object.assign(process.env, given, { ONCEHOOK_DATABASE_URL: "sqlite:x.db" });
    try {
      const config = { sources: { billing: stripe({ secret: "whsec_of_an_application_1f0c" }) } };
      expect(() => createReceiver(config)).toThrow(/^ONCEHOOK_ENCRYPTION_KEY: is not set$/);
    } finally {
      for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
      Object.assign(process.env, before);
    }
  });

  it("a closed receiver answers 503", () =>
    withDatabase("sqlite", async (target) => {
      const { receiver } = application(target);
      await receiver.ready();
      await receiver.close();
      expect((await send(receiver)).status).toBe(503);
    }));
});
