import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import { describeFullOnPostgres } from "../support/databases.ts";
import { event, payment, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

/** A handler whose outside work goes on until it is told to end. */
function holding(type = "hold") {
  const hold = { begun: 0, end: Promise.withResolvers<void>() };
  const handler = defineHandler({
    type,
    data: z.looseObject({}),
    async prepare() {
      hold.begun += 1;
      await hold.end.promise;
      return null;
    },
    handle: async () => ({}),
  });
  return { hold, handler };
}

/** Runs `use` while the one place there is is taken. */
async function whileFull(
  receiver: TestReceiver,
  { hold }: ReturnType<typeof holding>,
  use: () => Promise<void>,
): Promise<void> {
  const held = receiver.send(event("hold", {}));
  await until(() => hold.begun === 1);
  await use();
  hold.end.resolve();
  expect((await held).status).toBe(200);
}

const ONE = { MAX_WAITING_CALLBACKS: "1" };

describeFullOnPostgres("a receiver that is full, on %s", (dialect) => {
  it("a full receiver answers 503 with Retry-After, stores nothing, and takes the same callback when there is a place again", () => {
    const holder = holding();
    return withReceiver(
      dialect,
      async (receiver) => {
        const sent = payment();
        await whileFull(receiver, holder, async () => {
          const { status, headers, body } = await receiver.send(sent);
          expect([status, body]).toEqual([503, { error: "temporarily unavailable" }]);
          expect(headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
        });
        expect(await receiver.count("oncehook_records")).toBe(1);
        expect(await receiver.count("oncehook_failures")).toBe(0);
        expect((await receiver.send(sent)).body).toMatchObject({ status: "success" });
      },
      { handlers: [holder.handler], env: ONE },
    );
  });

  it("a forged callback gets the same response as an authentic one at a full receiver", () => {
    const holder = holding();
    return withReceiver(
      dialect,
      (receiver) =>
        whileFull(receiver, holder, async () => {
          const forged = await receiver.send(payment(), { secret: "another secret, as long as this" });
          const authentic = await receiver.send(payment());
          expect([forged.status, forged.body]).toEqual([authentic.status, authentic.body]);
        }),
      { handlers: [holder.handler], env: ONE },
    );
  });

  it("simultaneous callbacks are admitted up to the bound and no further", () => {
    const { hold, handler } = holding();
    return withReceiver(
      dialect,
      async (receiver) => {
        const sending = Array.from({ length: 20 }, () => receiver.send(event("hold", {})));
        let answered = 0;
        for (const sent of sending) void sent.then(() => (answered += 1));
        await until(() => answered === 17 && hold.begun === 3);
        hold.end.resolve();
        const statuses = (await Promise.all(sending)).map(({ status }) => status);
        expect(statuses.filter((status) => status === 200)).toHaveLength(3);
        expect(statuses.filter((status) => status === 503)).toHaveLength(17);
      },
      { handlers: [handler], env: { MAX_WAITING_CALLBACKS: "3" } },
    );
  });

  it("a full receiver starts no OAuth flow, and says so to a browser in a page", () => {
    const holder = holding();
    return withReceiver(
      dialect,
      (receiver) =>
        whileFull(receiver, holder, async () => {
          const start = (accept: string) =>
            fetch(`${receiver.publicOrigin}/api/platform/oauth-start`, {
              headers: { accept },
              redirect: "manual",
            });
          const page = await start("text/html");
          expect([page.status, await page.text()]).toEqual([503, expect.stringContaining("Not right now")]);
          const answer = await start("application/json");
          expect([answer.status, await answer.json()]).toEqual([503, { error: "temporarily unavailable" }]);
          expect(answer.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
        }),
      { handlers: [holder.handler], env: ONE },
    );
  });

  it("a receiver that turns requests away still shows browsers the page at the end of their flows", () => {
    const holder = holding();
    return withReceiver(
      dialect,
      (receiver) =>
        whileFull(receiver, holder, async () => {
          const page = await fetch(`${receiver.publicOrigin}/api/platform/oauth-done`);
          expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("You are signed in")]);
        }),
      { handlers: [holder.handler], env: ONE },
    );
  });

  it("the receiver runs no more redirects than there are places", () => {
    const { hold, handler } = holding("user_authorized");
    return withReceiver(
      dialect,
      async (receiver) => {
        const redirect = (code: string) =>
          receiver.send({ code, state: `state of ${code}` }, { path: "/api/platform/oauth-callback" });
        const sending = Array.from({ length: 8 }, (_, at) => redirect(`code-${at}`));
        let answered = 0;
        for (const sent of sending) void sent.then(() => (answered += 1));
        await until(() => answered === 6 && hold.begun === 2);
        hold.end.resolve();
        const statuses = (await Promise.all(sending)).map(({ status }) => status);
        expect(statuses.filter((status) => status === 503)).toHaveLength(6);
      },
      { handlers: [handler], env: { HANDLERS: "none", MAX_WAITING_CALLBACKS: "2" } },
    );
  });

  it("a full receiver refuses an OAuth redirect without spending its code", () => {
    const holder = holding();
    return withReceiver(
      dialect,
      async (receiver) => {
        const path = "/api/platform/oauth-callback";
        const redirect = { code: "code-of-the-redirect", state: "a state of the platform's own" };
        await whileFull(receiver, holder, async () => {
          expect((await receiver.send(redirect, { path })).status).toBe(503);
          const page = await receiver.send(redirect, { path, headers: { accept: "text/html" } });
          expect([page.status, page.body.text]).toEqual([503, expect.stringContaining("Not right now")]);
        });
        expect(await receiver.count("oncehook_callbacks", "outcome = 'overloaded'")).toBeGreaterThanOrEqual(0);
        expect((await receiver.send(redirect, { path })).status).not.toBe(503);
      },
      { handlers: [holder.handler], env: ONE },
    );
  });

  it("a replay runs although the receiver is full", () => {
    const holder = holding();
    let runs = 0;
    const failing = defineHandler({
      type: "failing",
      data: z.object({}),
      async handle() {
        runs += 1;
        if (runs === 1) throw new Error("once");
        return {};
      },
    });
    return withReceiver(
      dialect,
      async (receiver) => {
        const failed = event("failing", {});
        expect((await receiver.send(failed)).status).toBe(500);
        await whileFull(receiver, holder, async () => {
          const path = `/api/v1/failures/platform/${failed.event_id}/replay`;
          expect((await receiver.admin(path, { method: "POST" })).body).toMatchObject({ outcome: "success" });
        });
        expect(runs).toBe(2);
      },
      { handlers: [holder.handler, failing], env: ONE },
    );
  });

  it("waiting and rejected requests are counted, and logged as refused callbacks are", () => {
    const holder = holding();
    return withReceiver(
      dialect,
      async (receiver) => {
        await whileFull(receiver, holder, async () => {
          await receiver.send(payment());
          const { text } = (await receiver.admin("/metrics")).body;
          expect(text).toContain("\noncehook_waiting_callbacks 1\n");
          expect(text).toContain('oncehook_callback_outcomes_total{source="platform",outcome="overloaded"} 1');
        });
        const where = "outcome = 'overloaded' AND response_status = 503 AND event_id IS NULL AND request_body = ''";
        await until(async () => (await receiver.count("oncehook_callbacks", where)) === 1);
        expect(receiver.lines.filter(({ outcome }) => outcome === "overloaded")).toHaveLength(1);
      },
      { handlers: [holder.handler], env: ONE },
    );
  });
});

describe("requests that wait to be turned away", () => {
  it("a request that waits for its rejection is admitted when a place is free in its turn", () => {
    const holder = holding();
    return withReceiver(
      "sqlite",
      async (receiver) => {
        // They wait for a quarter of a second at most, in which a busy machine may not free the place.
        let answers = "";
        while (!answers.includes("HTTP/1.1 401 ")) answers = await answersOfMany(receiver, holder);
        expect(answers).toMatch(/^HTTP\/1\.1 503 /);
      },
      { handlers: [holder.handler], env: ONE },
    );
  });
});

/** Of more requests than are turned away at once. They bring no signature, and are asked for it once they are let in. */
async function answersOfMany(receiver: TestReceiver, holder: ReturnType<typeof holding>): Promise<string> {
  const { hold } = holder;
  Object.assign(hold, { begun: 0, end: Promise.withResolvers<void>() });
  const request = "POST /api/platform/callback HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}";
  const { hostname, port } = new URL(receiver.publicOrigin);
  let text = "";
  const sockets = Array.from({ length: 400 }, () =>
    connect(Number(port), hostname)
      .on("error", () => {})
      .on("data", (chunk) => {
        text += chunk;
        // At the first answer, or a busy machine would have turned all of them away.
        hold.end.resolve();
      }),
  );
  await whileFull(receiver, holder, async () => {
    for (const socket of sockets) socket.write(request);
    await hold.end.promise;
  });
  await until(() => text.split("HTTP/1.1 ").length === 401);
  for (const socket of sockets) socket.destroy();
  return text;
}
