import type { Config } from "../config/index.ts";
import type { Log } from "../domain/index.ts";
import type { Registry } from "../handlers/index.ts";
import type { Store } from "../store/index.ts";
import { unprotectedBody } from "./platform-scheme.ts";
import { unserved } from "./unserved.ts";
import { warnUnhandled } from "./warn-unhandled.ts";

/** What an operator should know at a start, though it keeps nobody from starting. */
export async function warn(
  config: Config,
  store: Store,
  registry: Registry,
  destinations: readonly string[],
  log: Log,
): Promise<void> {
  await warnUnhandled(store.failures, registry, log);
  const openBody = unprotectedBody(config);
  const stuck = unserved(await store.outbox.waitingByChannel(), destinations);
  const found = [openBody, unhandledSignIn(config, registry)].filter((warning) => warning !== undefined);
  for (const warning of [...config.warnings, ...found, ...stuck]) log.warn({}, warning);
}

/** With handlers of one's own the built-in ones are off: users would come back from the platform to a 400. */
function unhandledSignIn({ oauth }: Config, registry: Registry): string | undefined {
  if (oauth === null || registry.find("v1", "user_authorized") !== undefined) return undefined;
  return (
    "OAUTH_* variables are set, but no handler receives user_authorized, so that sign-ins end with 400: add the built-in one " +
    "with HANDLERS=user_authorized, or a handler of your own"
  );
}
