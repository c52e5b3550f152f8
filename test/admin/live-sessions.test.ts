import { describe, expect, it } from "vitest";
import { describeFullOnPostgres, withDatabase } from "../support/databases.ts";
import { withListening } from "../support/event-stream.ts";
import { OwnPage, sessionIdIn } from "../support/own-page.ts";
import { payment, startReceiver, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { TOKEN } from "../support/secrets.ts";
import { until } from "../support/until.ts";

const ENV = { ADMIN_BASE_URL: "https://admin.example.com", ADMIN_SESSION_HOURS: "1" };
const LIMIT_MS = 20_000;

/** Signs in at a receiver's own page. */
async function signIn({ adminOrigin }: TestReceiver): Promise<{ page: OwnPage; cookie: string }> {
  const page = new OwnPage(adminOrigin);
  return { page, cookie: `__Host-oncehook-session=${sessionIdIn(await page.signIn(TOKEN))}` };
}

/** A live stream with nothing but a session's cookie. It must be over when the test is. */
async function openWith(cookie: string, { adminOrigin }: TestReceiver) {
  const response = await fetch(`${adminOrigin}/api/v1/live`, { headers: { cookie } });
  expect(response.status).toBe(200);
  const stream = { heard: "", isOver: false };
  void (async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) stream.heard += chunk;
  })()
    .catch(() => {})
    .finally(() => {
      stream.isOver = true;
    });
  await until(() => stream.heard.includes("event: tally"), LIMIT_MS);
  return stream;
}

describeFullOnPostgres("a live stream of a session on %s", (dialect) => {
  it(
    "a live stream ends on every process when its owner signs out, and streams of other sessions go on",
    { tags: "full" },
    () =>
      withDatabase(dialect, async (target) => {
        const receivers = [
          await startReceiver(target, { env: ENV }),
          await startReceiver(target, { env: ENV }),
        ] as const;
        try {
          const { page, cookie } = await signIn(receivers[0]);
          const streams = [await openWith(cookie, receivers[0]), await openWith(cookie, receivers[1])];
          await withListening(receivers[0].adminOrigin, {}, async (other) => {
            expect((await page.ask("DELETE", "/api/v1/session")).status).toBe(204);
            await until(() => streams.every(({ isOver }) => isOver), LIMIT_MS);
            await receivers[0].send(payment({ event_id: "after" }));
            await until(() => other.eventIds().includes("after"), LIMIT_MS);
            expect(streams.map(({ heard }) => heard.includes('"after"'))).toEqual([false, false]);
            expect(other.events.some(({ event }) => event === "disconnected")).toBe(false);
          });
        } finally {
          for (const receiver of receivers) await receiver.stop();
        }
      }),
  );
});

describe("a live stream of a session", () => {
  it("a live stream ends when its session expires", { tags: "full" }, () => {
    const time = { offset: 0 };
    const clock = { now: () => new Date(Date.now() + time.offset) };
    return withReceiver(
      "sqlite",
      async (receiver) => {
        const { cookie } = await signIn(receiver);
        const stream = await openWith(cookie, receiver);
        time.offset = 3_601_000;
        await until(() => stream.isOver, LIMIT_MS);
        expect(stream.heard).not.toContain("event: callback");
      },
      { env: ENV, clock },
    );
  });

  it("a live stream ends when its owner signs in again, because that ends the earlier session", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const { page, cookie } = await signIn(receiver);
        const stream = await openWith(cookie, receiver);
        expect((await page.signIn(TOKEN)).status).toBe(200);
        await until(() => stream.isOver, LIMIT_MS);
      },
      { env: ENV },
    ));
});
