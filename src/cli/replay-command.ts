import type { Command } from "commander";
import type { ReplayView } from "../admin-client/index.ts";
import { longestRunMs } from "../app/index.ts";
import type { Config } from "../config/index.ts";
import { type AdminOptions, askAdmin } from "./ask-admin.ts";
import { type JsonOptions, printResult } from "./json-output.ts";
import { askingCommand } from "./look-up-commands.ts";

interface ReplayOptions extends AdminOptions, JsonOptions {
  readonly source: string;
  readonly dryRun?: true;
}

const MARGIN_MS = 5_000;
const WELL_ENDED: readonly string[] = ["success", "already_processed"];

export function replayCommand(): Command {
  return askingCommand("replay")
    .description("Run a failed event again, now. Exit code 0 when it is handled in the end.")
    .argument("<event_id>", "the event, as `oncehook failures` lists it")
    .option("--source <source>", "where it came from", "platform")
    .option("--dry-run", "only show what it would do: everything is rolled back")
    .action(replay);
}

async function replay(eventId: string, options: ReplayOptions): Promise<void> {
  const key = { source: options.source, event_id: eventId };
  const mode = { dry_run: options.dryRun ?? false };
  const replayed = await askAdmin(options, ({ failures }) => failures.replay(key, mode), longestReplayMs);
  printResult(options, replayed, () => sentence(replayed, options));
  if (!WELL_ENDED.includes(replayed.outcome)) process.exitCode = 1;
}

function longestReplayMs(config: Config): number {
  return longestRunMs(config) + MARGIN_MS;
}

function sentence({ outcome, result, error }: ReplayView, { dryRun }: ReplayOptions): string {
  const ending = `${outcome}${result === undefined ? "" : ` ${JSON.stringify(result)}`}`;
  const why = error === undefined ? "" : `${error}\n`;
  return `${dryRun === true ? "a dry run, rolled back" : "replayed"}: ${ending}\n${why}`;
}
