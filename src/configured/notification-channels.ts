import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { getCACertificates } from "node:tls";
import { type Config, ConfigError } from "../config/index.ts";
import type { Log } from "../domain/index.ts";
import type { Mask } from "../observability/index.ts";
import {
  type AlertChannelOptions,
  alertChannel,
  CHAT_MESSAGES,
  type Channel,
  createAllowedAddresses,
  emailChannel,
  emailDestinations,
  LOG_DESTINATION,
  logChannel,
  PAGERDUTY_DESTINATION,
  pagerDutyChannel,
  WEBHOOK_DESTINATION,
  webhookChannel,
} from "../outbox/index.ts";

/**
 * The configured channels, and the log where handlers' notifications have no other one.
 * @throws ConfigError for a file that cannot be used
 */
export async function notificationChannels(config: Config, log: Log, mask: Mask): Promise<Channel[]> {
  const { webhook, email, allowAddresses } = config.notifications;
  const addresses = createAllowedAddresses(allowAddresses);
  const ca = await trustedCertificates(config);
  const common = { addresses, ...(ca === undefined ? {} : { ca }) };
  const channels = [
    ...(webhook === null ? [] : [webhookChannel({ ...webhook, ...common })]),
    ...(email === null ? [] : [emailChannel({ ...email, ...common })]),
  ];
  return [...(channels.length > 0 ? channels : [logChannel(log, mask.json)]), ...alertChannels(config, common)];
}

function alertChannels(config: Config, common: Pick<AlertChannelOptions, "addresses" | "ca">): Channel[] {
  const { pagerDuty, ...chats } = config.notifications.alertChannels;
  const { hostname: host } = new URL(config.baseUrl);
  const origin = { host, environment: config.environment, pageUrl: config.admin.baseUrl ?? undefined };
  const channels = CHATS.flatMap((name) => {
    const url = chats[name];
    return url === null ? [] : [alertChannel(name, { ...common, url, origin }, CHAT_MESSAGES[name])];
  });
  if (pagerDuty === null) return channels;
  const { key: routingKey, url } = pagerDuty;
  return [...channels, pagerDutyChannel({ ...common, url, origin, routingKey })];
}

const CHATS = ["slack", "teams", "discord"] as const;

export function configuredChannelNames({ notifications }: Config): string[] {
  const { webhook, email, alertChannels } = notifications;
  const destinations = [
    ...(webhook === null ? [] : [WEBHOOK_DESTINATION]),
    ...(email === null ? [] : emailDestinations(email.to)),
  ];
  return [
    ...(destinations.length > 0 ? destinations : [LOG_DESTINATION]),
    ...CHATS.filter((name) => alertChannels[name] !== null),
    ...(alertChannels.pagerDuty === null ? [] : [PAGERDUTY_DESTINATION]),
  ];
}

/** Of a channel's address only the host: its path may be the secret that allows posting there. */
export function channelHost(channel: string, { notifications }: Pick<Config, "notifications">): string | null {
  const { webhook, email, alertChannels } = notifications;
  const { pagerDuty, ...chats } = alertChannels;
  const urls: Readonly<Record<string, string | null | undefined>> = {
    ...chats,
    [WEBHOOK_DESTINATION]: webhook?.url,
    [PAGERDUTY_DESTINATION]: pagerDuty?.url,
    ...Object.fromEntries(email === null ? [] : emailDestinations(email.to).map((name) => [name, email.url])),
  };
  return URL.parse(urls[channel] ?? "")?.host ?? null;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * The authorities of the receivers' certificates: the usual ones and those of `NOTIFY_CA_FILE`. To TLS a list takes the place
 * of the usual ones, so that it must hold them.
 */
export async function trustedCertificates({ notifications }: Config): Promise<string[] | undefined> {
  const { caFile: file } = notifications;
  if (file === null) return undefined;
  const refuse = (why: string) => new ConfigError([`NOTIFY_CA_FILE: got ${JSON.stringify(file)}, ${why}`]);
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw refuse(`which cannot be read: ${String(cause)}`);
  });
  const certificates = text.match(CERTIFICATE) ?? [];
  if (certificates.length === 0) throw refuse("which holds no certificate in PEM");
  for (const certificate of certificates) {
    try {
      new X509Certificate(certificate);
    } catch (cause) {
      throw refuse(`which holds a certificate that cannot be read: ${String(cause)}`);
    }
  }
  return [...getCACertificates("default"), ...certificates];
}
