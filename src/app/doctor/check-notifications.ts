import { type Config, ConfigError } from "../../config/index.ts";
import { createAllowedAddresses } from "../../outbox/index.ts";
import { notificationAuthorities } from "../channels.ts";
import { type Finding, failure, ok } from "./finding.ts";

const about = "notifications";

/** That the hosts of the channels have addresses to which notifications may go. Nothing is sent. */
export async function checkNotifications(config: Config): Promise<Finding[]> {
  const { webhook, email } = config.notifications;
  const urls = [webhook?.url, email?.url].filter((url) => url !== undefined);
  const findings = await checkAuthorities(config);
  if (urls.length > 0)
    return [...findings, ...(await Promise.all(urls.map((url) => checkHost(url, config))))];
  return [...findings, ok(about, "go to the log: neither NOTIFY_WEBHOOK_URL nor SMTP_URL is set")];
}

async function checkAuthorities(config: Config): Promise<Finding[]> {
  try {
    await notificationAuthorities(config);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map((problem) => failure(about, problem));
    throw error;
  }
}

/** Told is the origin alone: the rest of the address may be a secret. */
async function checkHost(url: string, { notifications }: Config): Promise<Finding> {
  const { protocol, host, hostname } = new URL(url);
  const addresses = createAllowedAddresses(notifications.allowAddresses);
  const name = hostname.replace(/^\[|\]$/g, "");
  try {
    addresses.assertHost(name);
    await new Promise<void>((resolve, reject) =>
      addresses.lookup(name, { all: true }, (error) => (error === null ? resolve() : reject(error))),
    );
    return ok(about, `${protocol}//${host} has an address they may go to`);
  } catch (error) {
    return failure(about, error instanceof Error ? error.message : String(error));
  }
}
