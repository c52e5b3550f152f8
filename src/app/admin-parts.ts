import { type Backfills, createEmbeddedAdmin } from "../admin/index.ts";
import { channelHost, configuredChannelNames } from "../configured/index.ts";
import type { PayloadCondition } from "../domain/index.ts";
import type { Receiver } from "../pipeline/index.ts";
import {
  discard,
  dryRunHandled,
  dryRunReplay,
  handlerProblem,
  previewBackfill,
  replay,
  replayHandled,
  runSample,
} from "../retry/index.ts";
import type { EventReplay } from "../store/index.ts";
import { erasePayloads } from "../upkeep/index.ts";
import { packageVersion } from "./admin-access.ts";
import type { Assembled } from "./assemble.ts";
import { createInstallation } from "./installation.ts";
import { createSources } from "./sources.ts";

/** The services of the admin API, for a listener of the server and for an application. */
export async function adminParts(assembled: Assembled, isApplication = false) {
  const { config, services, tokens, userHandlers } = assembled;
  const { receiver, metrics, callbackLog, mask, rollups } = services;
  return {
    ...{ metrics, callbackLog, mask },
    revoke: tokens.revoke,
    sources: createSources(assembled),
    installation: createInstallation(assembled, isApplication),
    channelNames: configuredChannelNames(config),
    channelHostOf: (channel: string) => channelHost(channel, config),
    alertRules: config.alerts,
    about: { environment: config.environment, version: await packageVersion() },
    ...receiver,
    replay: (key: Parameters<typeof replay>[0]) => replay(key, receiver),
    dryRun: (key: Parameters<typeof replay>[0]) => dryRunReplay(key, receiver),
    replayHandled: (key: Parameters<typeof replay>[0], replaces: EventReplay) =>
      receiver.runLock.shared(() => replayHandled(key, replaces, receiver)),
    dryRunHandled: (key: Parameters<typeof replay>[0]) => receiver.runLock.shared(() => dryRunHandled(key, receiver)),
    discard: (key: Parameters<typeof replay>[0]) => discard(key, receiver),
    backfills: backfillsOf({ ...receiver, registry: userHandlers }),
    async erase(condition: PayloadCondition, isDryRun: boolean) {
      await Promise.all([callbackLog.flush(), receiver.statementLog?.flush()]);
      return erasePayloads(condition, { isDryRun }, receiver);
    },
    flushRollups: rollups.flush,
  };
}

/** Longer ones are counted by the command. */
const PREVIEW_MS = 10_000;

/** @param receiver with the user's handlers only */
function backfillsOf(receiver: Receiver): Backfills {
  const sourceNames = [...receiver.sourcesByName.keys()];
  return {
    problemOf: (asked) => handlerProblem(asked, { ...receiver, sourceNames }, false),
    preview: (asked) =>
      previewBackfill(asked, { runSample: (target) => runSample(target, receiver), budgetMs: PREVIEW_MS }, receiver),
  };
}

/** The admin API and its page without a listener. */
export const openEmbeddedAdmin = async (assembled: Assembled) =>
  createEmbeddedAdmin({ ...(await adminParts(assembled, true)), sandbox: null, isServing: () => true });
