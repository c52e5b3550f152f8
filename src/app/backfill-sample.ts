import { configuredAuthorizationServer, createPlatformScheme, maskOf } from "../configured/index.ts";
import { createUserTokens } from "../oauth/index.ts";
import { createLogger } from "../observability/index.ts";
import { DryRun, runEvent } from "../pipeline/index.ts";
import type { SampledEvent } from "../retry/index.ts";
import { systemClock } from "../system/index.ts";
import { createServices } from "./services.ts";

type Services = Pick<Parameters<typeof createServices>[0], "config" | "store" | "registry" | "encryptor"> &
  Parameters<typeof maskOf>[1];

/** Runs events in transactions that are rolled back; no `prepare` step runs. `run` returns why an event would fail. */
export async function createSample({ configured, ...parts }: Services) {
  const { config, store, encryptor } = parts;
  const clock = systemClock;
  const log = createLogger({
    level: "silent",
    mask: maskOf(config, { configured }),
    destination: { write() {} },
  });
  const platform = configuredAuthorizationServer(config, () => config.baseUrl);
  const { receiver, callbackLog, metrics } = createServices({
    ...parts,
    ...{ configuredSources: configured, clock, logger: log, tracer: undefined, noteCredential() {} },
    scheme: await createPlatformScheme(config, clock),
    tokens: createUserTokens({ store: store.userTokens, platform, encryptor, clock, log }),
  });
  return {
    async run({ key, ...event }: SampledEvent): Promise<string | undefined> {
      const deadline = performance.now() + config.handlerTimeoutMs;
      // The record of its storing would make it a duplicate.
      const sampled = { ...event, key: { ...key, eventId: `dry run of ${key.eventId}` }, deadline };
      const dryRun = new DryRun();
      const outcome = await runEvent({ ...sampled, kind: "replay", mode: "dry-run", dryRun }, receiver);
      if (outcome.kind === "refused") return outcome.message ?? outcome.code;
      return outcome.kind === "failed" ? receiver.describeError(outcome.cause).split("\n")[0] : undefined;
    },
    async close(): Promise<void> {
      metrics.close();
      await Promise.all([callbackLog.close(), receiver.concurrency.outsideLimitEnded()]);
    },
  };
}
