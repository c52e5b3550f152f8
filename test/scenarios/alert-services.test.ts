import { expect, it } from "vitest";
import { z } from "zod";
import { createAdminClient } from "../../src/admin-client/index.ts";
import { defineHandler } from "../../src/index.ts";
import { withAlertServices } from "../support/alert-services.ts";
import { withDatabase } from "../support/databases.ts";
import { event, payment, startReceiver, TOKEN } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const POLL = 20;
const failing = defineHandler({
  type: "failing",
  data: z.object({}),
  async handle() {
    throw new Error("this handler always fails");
  },
});

it("Slack and PagerDuty get an alert and its end, which the list of alerts says, but no notification of a handler", () =>
  withDatabase("sqlite", (target) =>
    withAlertServices(async ({ urlOf, taken, answers }) => {
      const env = {
        ALERT_SLACK_URL: urlOf("slack"),
        ALERT_PAGERDUTY_KEY: "Zx9Kq2Vw7Lm4Tb8Rc1Yp6Ns3Hd5Jf0Ga",
        ALERT_PAGERDUTY_URL: urlOf("pagerduty"),
        NOTIFY_ALLOW_ADDRESSES: "127.0.0.0/8",
        NOTIFY_RETRY_DELAY_SECONDS: "1",
        RETRY_MAX: "0",
        HANDLERS: "payment_notify",
      };
      answers.push({ status: 503, body: "rollup_error" });
      const receiver = await startReceiver(target, { alertPollMs: POLL, outboxPollMs: POLL, env, handlers: [failing] });
      try {
        const sent = event("failing", {});
        await receiver.send(sent);
        await receiver.send(payment());
        await until(() => taken.length === 2, 20_000);
        expect(taken.map(({ service }) => service).sort()).toEqual(["pagerduty", "slack"]);
        const { alerts } = createAdminClient({ origin: receiver.adminOrigin, token: TOKEN });
        const sentTo = async () => {
          const { items, channels } = await alerts.list();
          const deliveries = items[0]?.notification?.deliveries.map(({ channel, state }) => `${channel} ${state}`);
          return { channels, deliveries };
        };
        const channels = ["log", "slack", "pagerduty"];
        const deliveries = channels.map((channel) => `${channel} delivered`);
        await expect.poll(sentTo, { timeout: 20_000 }).toEqual({ channels, deliveries });
        await receiver.admin(`/api/v1/failures/platform/${sent.event_id}`, { method: "DELETE" });
        await until(() => taken.length === 4, 20_000);
        const resolved = taken.slice(2).map(({ text }) => text);
        for (const text of resolved) expect(text).toMatch(/"event_action":"resolve"|Resolved: /);
        const logged = () => receiver.lines.filter(({ msg }) => msg === "notification").map(({ topic }) => topic);
        await until(() => logged().includes("order.paid"));
        expect(taken).toHaveLength(4);
        expect(taken.map(({ text }) => text).join()).not.toContain("order.paid");
        expect(JSON.stringify(receiver.lines)).not.toContain(env.ALERT_PAGERDUTY_KEY);
      } finally {
        await receiver.stop();
      }
    }),
  ));
