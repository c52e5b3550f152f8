import type { Config } from "../../config/index.ts";
import { createAllowedAddresses } from "../../outbox/index.ts";
import { type Finding, failure, ok } from "./finding.ts";

/** That the hosts of the channels have addresses to which notifications may go. Nothing is sent. */
export async function checkNotifications({ notifications }: Config): Promise<Finding[]> {
  const about = "notifications";
  const { webhook, email, allowAddresses } = notifications;
  const urls = [webhook?.url, email?.url].filter((url) => url !== undefined);
  if (urls.length === 0) return [ok(about, "go to the log: neither NOTIFY_WEBHOOK_URL nor SMTP_URL is set")];
  const addresses = createAllowedAddresses(allowAddresses);
  return Promise.all(
    urls.map(async (url) => {
      const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
      try {
        addresses.assertHost(host);
        await new Promise<void>((resolve, reject) =>
          addresses.lookup(host, { all: true }, (error) => (error === null ? resolve() : reject(error))),
        );
        return ok(about, `${host} has an address they may go to`);
      } catch (error) {
        return failure(about, error instanceof Error ? error.message : String(error));
      }
    }),
  );
}
