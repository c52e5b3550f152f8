import type { Config } from "../config/index.ts";
import type { Log } from "../domain/index.ts";
import type { Registry } from "../handlers/index.ts";
import type { Store } from "../store/index.ts";
import { SIGNED_IN, unhandledSignIn } from "./platform.ts";
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
  const signIn = unhandledSignIn(config.oauth === null || registry.find("v1", SIGNED_IN) !== undefined);
  const found = [openBody, signIn && `OAUTH_* variables are set, but ${signIn}`].filter(
    (warning) => warning !== undefined,
  );
  for (const warning of [...config.warnings, ...found, ...stuck]) log.warn({}, warning);
}
