import { readFile } from "node:fs/promises";
import { type Config, ConfigError } from "../config/index.ts";
import type { Log } from "../domain/index.ts";
import {
  type Channel,
  createAllowedAddresses,
  emailChannel,
  logChannel,
  webhookChannel,
} from "../outbox/index.ts";

/** The configured channels; the log alone where there is none. @throws ConfigError for a file that cannot be read */
export async function notificationChannels({ notifications }: Config, log: Log): Promise<Channel[]> {
  const { webhook, email, allowAddresses, caFile } = notifications;
  const addresses = createAllowedAddresses(allowAddresses);
  const common = { addresses, ...(caFile === null ? {} : { ca: await authorities(caFile) }) };
  const channels = [
    ...(webhook === null ? [] : [webhookChannel({ ...webhook, ...common })]),
    ...(email === null ? [] : [emailChannel({ ...email, ...common })]),
  ];
  return channels.length > 0 ? channels : [logChannel(log)];
}

async function authorities(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new ConfigError([
      `NOTIFY_CA_FILE: got ${JSON.stringify(file)}, which cannot be read: ${String(cause)}`,
    ]);
  }
}
