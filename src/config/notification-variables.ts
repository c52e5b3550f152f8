import { z } from "zod";
import type { AlertKind } from "../store/index.ts";
import { cidrs, httpUrl, list, percentDecoded, variable, wholeNumber } from "./variable.ts";

const text = z.string();
/** Enough to tell an address from a mistake; whether it exists the mail server knows. */
const mailAddress = text.regex(/^[^\s@,<>]+@[^\s@,<>]+$/);
const smtpUrl = text.refine((value) => {
  const url = URL.parse(value);
  if (url === null || !["smtp:", "smtps:"].includes(url.protocol) || url.hostname === "") return false;
  // The address takes a lone % as it is; the login could not be read from it later.
  return percentDecoded(url.username) !== undefined && percentDecoded(url.password) !== undefined;
});
/** Standard Webhooks: 24 to 64 bytes. */
const webhookSecret = text.regex(/^whsec_[A-Za-z0-9+/]+={0,2}$/).refine((secret) => {
  const { length } = Buffer.from(secret.slice("whsec_".length), "base64");
  return length >= 24 && length <= 64;
});

const ALERT_KINDS = ["failures", "signatures", "silence"] as const satisfies readonly AlertKind[];
const alertKinds = z.union([
  z.literal("off").transform((): AlertKind[] => []),
  list().pipe(z.array(z.enum(ALERT_KINDS)).min(1)),
]);

/** Where notifications go. */
export const NOTIFICATION_VARIABLES = {
  NOTIFY_WEBHOOK_URL: variable({
    expects: "an http(s) address; in production https",
    default: "",
    // The path of many such addresses is what lets anybody post there.
    secret: true,
    meaning: "Notifications are posted there, signed as Standard Webhooks describes",
    schema: httpUrl,
  }),
  NOTIFY_WEBHOOK_SECRET: variable({
    expects: "whsec_ and 24 to 64 bytes as base64",
    default: "",
    secret: true,
    meaning: "With NOTIFY_WEBHOOK_URL: signs them",
    schema: webhookSecret,
  }),
  NOTIFY_EMAIL_TO: variable({
    expects: "1 to 100 mail addresses, separated by commas",
    default: "",
    meaning: "Notifications are mailed there",
    schema: list()
      .refine((all) => all.length > 0 && all.length <= 100)
      .refine((all) => all.every((one) => mailAddress.safeParse(one).success)),
  }),
  NOTIFY_EMAIL_FROM: variable({
    expects: "a mail address",
    default: "oncehook@ the host of CALLBACK_BASE_URL",
    meaning: "Sender address",
    schema: mailAddress,
  }),
  SMTP_URL: variable({
    expects: "smtps://user:password@host:465, percent-encoded, or smtp://…:587 with STARTTLS",
    default: "",
    secret: true,
    meaning: "With NOTIFY_EMAIL_TO: the mail server; always over TLS",
    schema: smtpUrl,
  }),
  NOTIFY_ALLOW_ADDRESSES: variable({
    expects: "addresses or CIDR networks, separated by commas",
    default: "public addresses only",
    meaning: "Private networks in which the webhook's receiver or the mail server may stand",
    schema: cidrs,
  }),
  NOTIFY_CA_FILE: variable({
    expects: "a PEM file",
    default: "the usual authorities",
    meaning: "More certificate authorities for them",
    schema: text,
  }),
  NOTIFY_ATTEMPTS: variable({
    expects: "a whole number from 1 to 100",
    default: "10",
    meaning: "Attempts on each channel; after the last one a delivery is failed and can be replayed",
    schema: wholeNumber(1, 100),
  }),
  ALERTS: variable({
    expects: `some of ${ALERT_KINDS.join(",")}, or off`,
    default: "failures,signatures with a webhook or mail, otherwise off",
    meaning: "Alerts sent through the same channels: docs/alerts.md",
    schema: alertKinds,
  }),
  ALERT_SILENCE_FLOOR: variable({
    expects: "a whole number from 10 to 1000000",
    default: "20",
    meaning: "How many callbacks of a type in seven days the alert on its silence needs",
    schema: wholeNumber(10, 1_000_000),
  }),
  NOTIFY_RETRY_DELAY_SECONDS: variable({
    expects: "a whole number from 1 to 3600",
    default: "5",
    meaning: "Before the second attempt; each further one comes four times later, up to 12 hours",
    schema: wholeNumber(1, 3_600),
  }),
} as const;
