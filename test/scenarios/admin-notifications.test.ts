import { expect, it } from "vitest";
import { type DIALECTS, describeFullOnPostgres, withDatabase } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { WEBHOOK_SECRET } from "../support/notified.ts";
import { conforms } from "../support/openapi.ts";
import { payment, startReceiver, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const UNREACHABLE = {
  NOTIFY_WEBHOOK_URL: "http://127.0.0.1:9/hook",
  NOTIFY_WEBHOOK_SECRET: WEBHOOK_SECRET,
  NOTIFY_ATTEMPTS: "1",
};
const ONE = "/api/v1/notifications/{id}";
const FAR_OFF = "2999-01-01T00:00:00.000Z";

interface Listed {
  readonly id: number;
  readonly deliveries: readonly { channel: string; state: string }[];
}

async function listed(receiver: TestReceiver): Promise<Listed[]> {
  return (await receiver.admin("/api/v1/notifications")).body.items as Listed[];
}

/** A receiver with one notification, which is dead because its webhook may not be reached. */
function withDead(
  dialect: (typeof DIALECTS)[number],
  use: (receiver: TestReceiver, path: string) => Promise<void>,
): Promise<void> {
  return withReceiver(
    dialect,
    async (receiver) => {
      await receiver.send(payment());
      await until(async () => (await listed(receiver))[0]?.deliveries[0]?.state === "dead");
      await use(receiver, `/api/v1/notifications/${(await listed(receiver))[0]?.id}`);
    },
    { env: UNREACHABLE, outboxPollMs: 20 },
  );
}

describeFullOnPostgres("an operator of notifications on %s", (dialect) => {
  it("an operator discards failed deliveries, of one channel or of all, once", () =>
    withDead(dialect, async (receiver, path) => {
      const discard = async (query = "") => {
        const answer = await receiver.admin(path + query, { method: "DELETE" });
        conforms(ONE, "delete", answer);
        return answer;
      };
      expect((await discard("?channel=email:a@example.com")).status).toBe(404);
      expect(await discard("?channel=webhook")).toMatchObject({ status: 200, body: { deliveries: 1 } });
      expect((await discard()).status).toBe(404);
      conforms("/api/v1/notifications", "get", await receiver.admin("/api/v1/notifications"));
      expect((await listed(receiver))[0]?.deliveries).toEqual([]);
    }));

  it("the admin API does not discard what is being delivered, since the receiver may take it yet", () =>
    withDead(dialect, async (receiver, path) => {
      const leased = `state = 'waiting', next_attempt_at = '${FAR_OFF}', leased_until = '${FAR_OFF}'`;
      await execute(receiver.target, `UPDATE oncehook_deliveries SET ${leased}`);
      const answer = await receiver.admin(path, { method: "DELETE" });
      conforms(ONE, "delete", answer);
      expect(answer.status).toBe(409);
      expect(await receiver.count("oncehook_deliveries")).toBe(1);
    }));

  it("an operator replays dead deliveries, and learns which ones stay dead", () =>
    withDead(dialect, async (receiver, path) => {
      await execute(
        receiver.target,
        `INSERT INTO oncehook_deliveries (notification_id, channel, state, attempts)
          SELECT id, 'email:gone@example.com', 'dead', 1 FROM oncehook_notifications`,
      );
      const answer = await receiver.admin(`${path}/replay`, { method: "POST" });
      conforms(`${ONE}/replay`, "post", answer);
      expect(answer.body).toEqual({ deliveries: 1, not_configured: ["email:gone@example.com"] });
    }));

  it("a replay of a dead delivery returns 409 when its channel is no longer configured", () =>
    withDead(dialect, async (receiver, path) => {
      await execute(receiver.target, "UPDATE oncehook_deliveries SET channel = 'email:gone@example.com'");
      const answer = await receiver.admin(`${path}/replay`, { method: "POST" });
      conforms(`${ONE}/replay`, "post", answer);
      expect(answer.status).toBe(409);
      expect(answer.body.error).toContain("not configured: email:gone@example.com");
    }));

  it("the start warns of channels that have deliveries but are not configured", () =>
    withDatabase(dialect, async (target) => {
      const first = await startReceiver(target, { env: UNREACHABLE });
      await first.send(payment());
      await first.stop();
      await execute(
        target,
        `INSERT INTO oncehook_deliveries (notification_id, channel, state, attempts, next_attempt_at)
          SELECT id, 'email:gone@example.com', 'waiting', 0, created_at FROM oncehook_notifications`,
      );
      const second = await startReceiver(target, { env: UNREACHABLE });
      await second.stop();
      expect(second.lines.map(({ msg }) => msg)).toContainEqual(
        expect.stringContaining("1 notification waits for the channel email:gone@example.com"),
      );
    }));

  it("an id or a name that the database cannot hold returns an error that says why", () =>
    withReceiver(dialect, async (receiver) => {
      const wrong = [
        ["POST", "/api/v1/notifications/99999999999999999999/replay"],
        ["POST", "/api/v1/notifications/9223372036854775808/replay"],
        ["DELETE", "/api/v1/notifications/9007199254740993"],
        ["DELETE", "/api/v1/notifications/1?channel=%00"],
        ["GET", "/api/v1/events?event_id=%00"],
        ["GET", "/api/v1/events?source=%00"],
        ["GET", "/api/v1/callbacks?event_id=a%00"],
        ["POST", "/api/v1/failures/platform/a%00/replay"],
        ["DELETE", "/api/v1/failures/%00/a"],
        ["DELETE", "/api/v1/users/%00/tokens"],
      ] as const;
      for (const [method, path] of wrong)
        expect([path, (await receiver.admin(path, { method })).status]).toEqual([path, 400]);
      for (const cursor of ["9999999999999999", "1"])
        for (const list of ["callbacks", "events", "failures", "notifications"])
          expect((await receiver.admin(`/api/v1/${list}?cursor=${cursor}`)).status).toBe(200);
    }));
});
