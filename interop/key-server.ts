import { randomUUID } from "node:crypto";
import type { RequestListener } from "node:http";
import { withHttpsServer } from "../test/support/http-server.ts";

/**
 * A platform's server of keys, over TLS, whose certificate this process believes while it runs.
 * @param use gets its address, such as `https://127.0.0.1:40123` @returns what stops it
 */
export async function startKeyServer(
  answer: RequestListener,
  use: (origin: string) => void,
): Promise<() => Promise<void>> {
  const [started, stopped] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  // Of two certificates with one name, OpenSSL believes the first alone.
  const options = { commonName: `keys ${randomUUID()}` };
  const done = withHttpsServer(
    answer,
    async (origin) => {
      use(origin);
      started.resolve();
      await stopped.promise;
    },
    options,
  );
  await Promise.race([started.promise, done]);
  return async () => {
    stopped.resolve();
    await done;
  };
}
