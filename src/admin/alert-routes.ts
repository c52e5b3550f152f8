import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { DAY_MS } from "../domain/index.ts";
import type { AlertKey } from "../store/index.ts";
import { requireCaller } from "./access/guard.ts";
import type { AdminDependencies } from "./admin-dependencies.ts";
import {
  ALERT,
  ALERT_RULE,
  type AlertRuleView,
  type AlertView,
  presentAlert,
  presentAlertRules,
} from "./alert-schemas.ts";
import { HttpError, operation } from "./operation.ts";
import { anyText } from "./page-schemas.ts";
import { presentNotificationRow } from "./present.ts";
import { text } from "./request-parameters.ts";
import { NOTIFICATION_ROW } from "./schemas.ts";

const MAX_MUTE_DAYS = 30;
const KEY = {
  kind: ALERT.shape.kind,
  source: text("As the list has it."),
  subject: anyText.max(255).default("").describe("The event type; empty where the alert is on the whole source."),
};
const KEY_FIELDS = ["kind", "source", "subject"];
const NO_ALERT = { 404: "No such alert has ever started." };

const LISTED = ALERT.extend({
  notification: NOTIFICATION_ROW.nullable().describe(
    "Its last one, with its delivery to each channel. Null where it sent none, an earlier version did, or retention deleted it.",
  ),
});
const CHANNELS = z
  .array(z.string())
  .describe("The channels that alerts go to; only `log` where none is configured for them.");

const LIST = operation({
  summary: "Alerts: open, muted and resolved",
  responses: {
    200: [
      "Those that are open first, the newest before older ones; which kinds are on; and where they go to.",
      { shape: z.strictObject({ items: z.array(LISTED), rules: z.array(ALERT_RULE), channels: CHANNELS }) },
    ],
  },
});
const MUTE = operation({
  summary: "Mute an alert until a time",
  action: "alert.mute",
  auditedFields: [...KEY_FIELDS, "until", "reason"],
  description:
    "Until then it sends no notification. When the mute ends, an alert that is still open is reported, and so is an end that no notification has said.",
  body: z.strictObject({
    ...KEY,
    until: z.iso.datetime({ offset: true }).describe(`In the future, at most ${MAX_MUTE_DAYS} days.`),
    reason: text("Why, for other operators.", 500),
  }),
  responses: { 200: ["It is muted.", { shape: ALERT }], ...NO_ALERT },
});
const UNMUTE = operation({
  summary: "End the mute of an alert",
  action: "alert.unmute",
  auditedFields: KEY_FIELDS,
  description: "The next evaluation reports how the alert is.",
  body: z.strictObject(KEY),
  responses: { 200: ["It is not muted any more.", { shape: ALERT }], ...NO_ALERT, 409: "It is not muted." },
});

export type ListedAlertView = z.infer<typeof LISTED>;

export interface AlertListView {
  readonly items: readonly ListedAlertView[];
  readonly rules: readonly AlertRuleView[];
  readonly channels: readonly string[];
}

export function registerAlerts(app: FastifyInstance, deps: AdminDependencies): void {
  const { store, clock, log, alertRules, channelNames } = deps;

  async function listed(): Promise<ListedAlertView[]> {
    const now = clock.now();
    const alerts = await store.alerts.list();
    const sent = await store.notifications.byIds(alerts.flatMap(({ notificationId }) => notificationId ?? []));
    return alerts.map((alert) => {
      const notification = sent.get(alert.notificationId ?? 0);
      return {
        ...presentAlert(alert, now),
        notification: notification === undefined ? null : presentNotificationRow(notification),
      };
    });
  }

  async function alertOf({ kind, source, subject }: AlertKey): Promise<AlertView> {
    const isMeant = (one: AlertKey) => one.kind === kind && one.source === source && one.subject === subject;
    const found = (await store.alerts.list()).find(isMeant);
    if (found !== undefined) return presentAlert(found, clock.now());
    throw new HttpError(404, "no such alert has ever started; GET /api/v1/alerts lists those that have");
  }

  app.get("/api/v1/alerts", LIST, async (): Promise<AlertListView> => {
    const newest = (await listed()).toSorted((one, other) => other.since.localeCompare(one.since));
    const items = newest.toSorted((one, other) => Number(other.is_open) - Number(one.is_open));
    return { items, rules: presentAlertRules(alertRules), channels: channelNames };
  });
  app.post("/api/v1/alerts/mute", MUTE, async (request) => {
    const { until: given, reason, ...key } = request.body;
    const until = new Date(given);
    const ahead = until.getTime() - clock.now().getTime();
    if (ahead <= 0 || ahead > MAX_MUTE_DAYS * DAY_MS) {
      const message = `until: got ${given}, expected a time in the future, at most ${MAX_MUTE_DAYS} days ahead`;
      throw new HttpError(400, message);
    }
    const { actor } = requireCaller(request);
    await store.alerts.mute(key, { until, by: actor, reason });
    const alert = await alertOf(key);
    log.info({ ...key, until: alert.muted_until, actor }, "an operator muted an alert");
    return alert;
  });
  app.post("/api/v1/alerts/unmute", UNMUTE, async ({ body: key }) => {
    const isEnded = await store.alerts.unmute(key, clock.now());
    const alert = await alertOf(key);
    if (!isEnded) throw new HttpError(409, "this alert is not muted");
    log.info({ ...key }, "an operator ended the mute of an alert");
    return alert;
  });
}
