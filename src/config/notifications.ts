import { growingRetries, percentDecoded } from "../domain/index.ts";
import type { AlertKind } from "../store/index.ts";
import type { Reading } from "./read-variables.ts";
import { cidrs, httpUrl, list, matching, someOf, text, type VariableTable, wholeNumber } from "./variable.ts";

/** Enough to tell an address from a mistake; only the mail server knows whether it exists. */
const mailAddress = matching(/^[^\s@,<>]+@[^\s@,<>]+$/, "a mail address");
const smtpUrl = text("")
  .refine((value) => {
    const url = URL.parse(value);
    if (url === null || !["smtp:", "smtps:"].includes(url.protocol) || url.hostname === "") return false;
    // A URL accepts a lone %; the login could not be decoded later.
    return percentDecoded(url.username) !== undefined && percentDecoded(url.password) !== undefined;
  })
  .describe("smtps://user:password@host:465, percent-encoded, or smtp://…:587 with STARTTLS");
/** Standard Webhooks: 24 to 64 bytes. */
const webhookSecret = matching(/^(?:v1,)?whsec_[A-Za-z0-9+/]+={0,2}$/, "")
  .transform((secret) => secret.replace(/^v1,/, ""))
  .refine((secret) => {
    const { length } = Buffer.from(secret.slice("whsec_".length), "base64");
    return length >= 24 && length <= 64;
  })
  .describe("whsec_ and 24 to 64 bytes as base64");

const ALERT_KINDS = ["failures", "accepted", "signatures", "silence"] as const satisfies readonly AlertKind[];
/** These need an operator's attention wherever they start; without a channel no alert arrives. */
const DEFAULT_ALERTS = ["failures", "accepted", "signatures"] as const satisfies readonly AlertKind[];

/** The address of a service's incoming webhook, which is the secret that allows posting there. */
const ALERT_ADDRESS = { schema: httpUrl, httpsInProduction: true, secret: "address" } as const;

export const NOTIFICATION_VARIABLES = {
  NOTIFY_WEBHOOK_URL: {
    schema: httpUrl,
    httpsInProduction: true,
    // Often the path is the secret that allows posting there.
    secret: "address",
    with: ["NOTIFY_WEBHOOK_SECRET"],
  },
  NOTIFY_WEBHOOK_SECRET: { schema: webhookSecret, secret: "own" },
  NOTIFY_EMAIL_TO: {
    schema: list("", (item) => mailAddress.accepts(item))
      .refine((all) => all.length > 0 && all.length <= 100)
      .describe("1 to 100 mail addresses, separated by commas"),
    with: ["SMTP_URL"],
  },
  NOTIFY_EMAIL_FROM: { schema: mailAddress, defaultText: "oncehook@ the host of CALLBACK_BASE_URL" },
  SMTP_URL: { schema: smtpUrl, secret: "address" },
  ALERT_SLACK_URL: ALERT_ADDRESS,
  ALERT_TEAMS_URL: ALERT_ADDRESS,
  ALERT_DISCORD_URL: ALERT_ADDRESS,
  ALERT_PAGERDUTY_KEY: {
    schema: matching(/^[A-Za-z0-9]{32}$/, "the 32 characters of an integration key"),
    secret: "issued",
  },
  ALERT_PAGERDUTY_URL: {
    schema: httpUrl,
    httpsInProduction: true,
    default: "https://events.pagerduty.com/v2/enqueue",
  },
  NOTIFY_ALLOW_ADDRESSES: { schema: cidrs, default: "", defaultText: "public addresses only" },
  NOTIFY_CA_FILE: { schema: text("a PEM file"), defaultText: "the usual authorities" },
  NOTIFY_ATTEMPTS: { schema: wholeNumber(1, 100), default: "10" },
  NOTIFY_RETRY_DELAY_SECONDS: { schema: wholeNumber(1, 3_600), default: "5" },
  ALERTS: {
    schema: someOf(ALERT_KINDS, "off"),
    defaultText: `${DEFAULT_ALERTS.join(",")} with a channel, otherwise off`,
  },
  ALERT_ACCEPTED_SECONDS: { schema: wholeNumber(60, 86_400), default: "300" },
  ALERT_SILENCE_FLOOR: { schema: wholeNumber(10, 1_000_000), default: "20" },
} satisfies VariableTable;

type NotificationReading = Reading<typeof NOTIFICATION_VARIABLES>;

/** @param host of the receiver, which mails name as their sender */
export function notificationsOf({ values }: NotificationReading, host: string) {
  const { NOTIFY_WEBHOOK_URL: url, NOTIFY_WEBHOOK_SECRET: secret } = values;
  const firstMs = values.NOTIFY_RETRY_DELAY_SECONDS * 1_000;
  const { SMTP_URL: smtp, NOTIFY_EMAIL_TO: to, NOTIFY_EMAIL_FROM: from = `oncehook@${host}` } = values;
  const { ALERT_PAGERDUTY_KEY: key } = values;
  return {
    webhook: url === undefined || secret === undefined ? null : { url, secret },
    email: smtp === undefined || to === undefined ? null : { url: smtp, to, from },
    /** The services that get only alerts. */
    alertChannels: {
      slack: values.ALERT_SLACK_URL ?? null,
      teams: values.ALERT_TEAMS_URL ?? null,
      discord: values.ALERT_DISCORD_URL ?? null,
      pagerDuty: key === undefined ? null : { key, url: values.ALERT_PAGERDUTY_URL },
    },
    allowAddresses: values.NOTIFY_ALLOW_ADDRESSES,
    caFile: values.NOTIFY_CA_FILE ?? null,
    policy: growingRetries(values.NOTIFY_ATTEMPTS - 1, { factor: 4, maxMs: 12 * 3_600_000, firstMs }),
  };
}

type Notifications = ReturnType<typeof notificationsOf>;

export function alertsOf({ values }: NotificationReading, { webhook, email, alertChannels }: Notifications) {
  const hasChannel = [webhook, email, ...Object.values(alertChannels)].some((channel) => channel !== null);
  const usual: readonly AlertKind[] = hasChannel ? DEFAULT_ALERTS : [];
  return {
    kinds: values.ALERTS ?? usual,
    acceptedSeconds: values.ALERT_ACCEPTED_SECONDS,
    silenceFloor: values.ALERT_SILENCE_FLOOR,
  };
}
