import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { certificate } from "../support/certificate.ts";
import { describeFullOnPostgres, fullOnPostgres, withDatabase } from "../support/databases.ts";
import { countOf } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { mailLogin, WEBHOOK_SECRET, withMailServer, withWebhookReceiver } from "../support/notified.ts";
import { startServer } from "../support/process.ts";
import { payment, type ReceiverOptions, startReceiver, withReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const POLL = 20;

async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-notify-"));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Variables for a webhook on this machine, whose certificate is vouched for by a file. */
async function webhookEnv(folder: string, { url, ca }: { url: string; ca: string }): Promise<Record<string, string>> {
  const file = join(folder, "ca.pem");
  await writeFile(file, ca);
  return {
    NOTIFY_WEBHOOK_URL: url,
    NOTIFY_WEBHOOK_SECRET: WEBHOOK_SECRET,
    NOTIFY_ALLOW_ADDRESSES: "127.0.0.0/8",
    NOTIFY_CA_FILE: file,
    NOTIFY_RETRY_DELAY_SECONDS: "1",
  };
}

const deliveries = async (receiver: { admin(path: string): Promise<{ body: Record<string, unknown> }> }) => {
  const { body } = await receiver.admin("/api/v1/notifications");
  const items = body.items as { deliveries: Record<string, unknown>[] }[];
  return items.flatMap((item) => item.deliveries);
};

describeFullOnPostgres("notifications on %s", (dialect) => {
  it(
    "notifications reach the webhook although it was down at first and our process was killed in between",
    { tags: "full", timeout: 120_000 },
    () =>
      withDatabase(dialect, (target) =>
        inFolder((folder) =>
          withWebhookReceiver(async (webhook) => {
            webhook.answers.push({ status: 503 }, { status: 503 });
            const env = await webhookEnv(folder, webhook);
            const first = await startServer(target, env);
            const sent = payment();
            expect((await first.send(sent)).status).toBe(200);
            await until(async () => (await countOf(target, "oncehook_deliveries", "attempts = 1")) === 1);
            first.child.kill("SIGKILL");
            await first.ended;
            // As if the time had passed for which the process that is dead had leased it.
            await execute(target, "UPDATE oncehook_deliveries SET leased_until = next_attempt_at");
            const second = await startServer(target, env);
            await until(() => webhook.accepted.length > 0, 90_000);
            expect((await second.send(sent)).body).toEqual({ status: "already_processed" });
            second.child.kill("SIGTERM");
            expect(await second.ended).toBe(0);
            expect(new Set(webhook.accepted.map(({ id }) => id)).size).toBe(1);
            expect(webhook.accepted[0]?.body).toMatchObject({ type: "order.paid", data: { order_id: "o1" } });
          }),
        ),
      ),
  );

  it(
    "notifications go through each channel by itself: one that fails does not hold the other up",
    { tags: fullOnPostgres(dialect) },
    () =>
      inFolder(async (folder) => {
        const pair = await certificate("mail");
        await withWebhookReceiver((webhook) =>
          withMailServer({ secure: true, pair }, async (mail) => {
            webhook.answers.push({ status: 500 });
            mail.refusals.push({ responseCode: 451, message: "try again later" });
            const env = {
              ...(await webhookEnv(folder, { url: webhook.url, ca: [webhook.ca, pair.cert].join("\n") })),
              SMTP_URL: `smtps://${mailLogin()}@127.0.0.1:${mail.port}`,
              NOTIFY_EMAIL_TO: "shop@example.com",
            };
            await withReceiver(
              dialect,
              async (receiver) => {
                await receiver.send(payment());
                await until(() => mail.mails.length === 1);
                await until(() => webhook.accepted.length === 1);
                await until(async () => (await deliveries(receiver)).every(({ state }) => state === "delivered"));
                expect((await deliveries(receiver)).map(({ channel, attempts }) => [channel, attempts]).sort()).toEqual(
                  [
                    ["email:shop@example.com", 2],
                    ["webhook", 2],
                  ],
                );
                expect(mail.mails[0]?.from).toBe("oncehook@localhost");
                expect(JSON.stringify(receiver.lines)).not.toMatch(/p%40ss|p@ss word/);
                const text = String((await receiver.admin("/metrics")).body.text);
                expect(text).toContain('oncehook_delivery_attempts_total{channel="webhook",outcome="failed"} 1');
                expect(text).toContain('oncehook_delivery_attempts_total{channel="email",outcome="delivered"} 1');
              },
              { env, outboxPollMs: POLL },
            );
          }),
        );
      }),
  );

  it("notifications that the webhook refuses end as dead, are listed, and are delivered after a replay", () =>
    inFolder((folder) =>
      withWebhookReceiver(async (webhook) => {
        webhook.answers.push({ status: 410 });
        const env = await webhookEnv(folder, webhook);
        await withReceiver(
          dialect,
          async (receiver) => {
            await receiver.send(payment());
            await until(async () => (await deliveries(receiver))[0]?.state === "dead");
            expect((await receiver.admin("/api/v1/notifications?state=dead")).body.items).toMatchObject([
              {
                topic: "order.paid",
                deliveries: [{ error: expect.stringContaining("the webhook's endpoint answered 410 (Gone)") }],
              },
            ]);
            const { items: problems } = (await receiver.admin("/api/v1/problems")).body;
            expect(problems).toMatchObject([{ remedy: expect.stringContaining("check the address of the channel") }]);
            const { body } = await receiver.admin("/api/v1/notifications");
            const [{ id }] = body.items as [{ id: number }];
            const replay = () => receiver.admin(`/api/v1/notifications/${id}/replay`, { method: "POST" });
            expect(await replay()).toMatchObject({ status: 200, body: { deliveries: 1 } });
            await until(() => webhook.accepted.length === 1);
            await until(async () => (await deliveries(receiver))[0]?.state === "delivered");
            expect((await replay()).status).toBe(404);
          },
          { env, outboxPollMs: POLL },
        );
      }),
    ));

  it(
    "notifications reach a receiver that the usual authorities vouch for, whatever NOTIFY_CA_FILE adds to them",
    { tags: "full" },
    () =>
      withDatabase(dialect, (target) =>
        inFolder((folder) =>
          withWebhookReceiver(async (webhook) => {
            const usual = join(folder, "usual.pem");
            await writeFile(usual, webhook.ca);
            const other = await certificate("other");
            const env = await webhookEnv(folder, { url: webhook.url, ca: other.cert });
            // To Node these are among the usual ones.
            const server = await startServer(target, { ...env, NODE_EXTRA_CA_CERTS: usual });
            await server.send(payment());
            await until(() => webhook.accepted.length === 1);
            server.child.kill("SIGTERM");
            expect(await server.ended).toBe(0);
          }),
        ),
      ),
  );

  it("two processes share the notifications and send each one once", { tags: "full" }, () =>
    inFolder((folder) =>
      withWebhookReceiver(async (webhook) => {
        const options: ReceiverOptions = { env: await webhookEnv(folder, webhook), outboxPollMs: POLL };
        await withDatabase(dialect, async (target) => {
          const receivers = [await startReceiver(target, options), await startReceiver(target, options)];
          const sends = Array.from({ length: 30 }, (_, n) =>
            receivers[n % 2]?.send(payment({}, { order_id: `o${n}` })),
          );
          await Promise.all(sends);
          await until(() => webhook.accepted.length >= 30);
          for (const receiver of receivers) await receiver.stop();
          expect(webhook.accepted).toHaveLength(30);
          expect(new Set(webhook.accepted.map(({ id }) => id)).size).toBe(30);
        });
      }),
    ),
  );

  it("notifications stand in the log where no channel is configured", () =>
    withReceiver(
      dialect,
      async (receiver) => {
        await receiver.send(payment());
        await until(() => receiver.lines.some(({ msg }) => msg === "notification"));
        expect(receiver.lines.find(({ msg }) => msg === "notification")).toMatchObject({
          topic: "order.paid",
          source: "platform",
        });
        await until(async () => (await deliveries(receiver))[0]?.state === "delivered");
      },
      { outboxPollMs: POLL },
    ));
});
