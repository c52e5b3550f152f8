import { requireTogether } from "./check-values.ts";
import type { Config } from "./config.ts";
import type { Problems } from "./problems.ts";
import type { Values } from "./read-variables.ts";

/** Exhausted events should alert an operator; without a channel an alert reaches no one. */
const DEFAULT_ALERTS = ["failures", "signatures"] as const;
const SILENCE_FLOOR = 20;

export function alertsOf(values: Values, { webhook, email }: Config["notifications"]): Config["alerts"] {
  const usual = webhook === null && email === null ? [] : DEFAULT_ALERTS;
  return {
    kinds: values.ALERTS ?? usual,
    silenceFloor: values.ALERT_SILENCE_FLOOR ?? SILENCE_FLOOR,
  };
}

/** Where notifications go; what is missing for a channel is added to the problems. */
export function notificationsOf(
  values: Values,
  baseUrl: string | undefined,
  problems: Problems,
): Config["notifications"] {
  requireTogether(values, ["NOTIFY_WEBHOOK_URL", "NOTIFY_WEBHOOK_SECRET"], problems);
  requireTogether(values, ["NOTIFY_EMAIL_TO", "SMTP_URL"], problems);
  const {
    NOTIFY_WEBHOOK_URL: url,
    NOTIFY_WEBHOOK_SECRET: secret,
    SMTP_URL: smtp,
    NOTIFY_EMAIL_TO: to,
  } = values;
  if (values.APP_ENV === "production" && url !== undefined && !url.startsWith("https:")) {
    problems.add(["NOTIFY_WEBHOOK_URL"], "got an http address, expected an https address in production");
  }
  const host = URL.parse(baseUrl ?? "")?.hostname ?? "localhost";
  return {
    webhook: url === undefined || secret === undefined ? null : { url, secret },
    email:
      smtp === undefined || to === undefined
        ? null
        : { url: smtp, to, from: values.NOTIFY_EMAIL_FROM ?? `oncehook@${host}` },
    allowAddresses: values.NOTIFY_ALLOW_ADDRESSES ?? [],
    caFile: values.NOTIFY_CA_FILE ?? null,
    policy: {
      attempts: values.NOTIFY_ATTEMPTS ?? 10,
      firstDelaySeconds: values.NOTIFY_RETRY_DELAY_SECONDS ?? 5,
    },
  };
}
