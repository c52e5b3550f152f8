import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import type { AdminClient, BulkReplayView } from "../admin-client/index.ts";
import { type AdminOptions, askAdmin } from "./ask-admin.ts";
import { type FilterOptions, filterOf } from "./failure-filter.ts";
import { type JsonOptions, printResult } from "./json-output.ts";

/** The options of `replay` that mean many failures. */
export interface BulkOptions extends AdminOptions, JsonOptions, FilterOptions {
  readonly all?: true;
  readonly perSecond?: number;
  readonly wait?: true;
  readonly dryRun?: true;
}

const WHICH =
  "missing argument 'event_id', or for many --state, --type, --code or --source; --all is every failure";
const LOOK_EVERY_MS = 500;

/** Has the receiver replay every failure that the options mean; with `--wait`, until it is done. */
export async function bulkReplay(options: BulkOptions, command: Command): Promise<void> {
  const filter = filterOf(options);
  if (options.dryRun === true) command.error("error: --dry-run is for one event: give its event_id");
  if (options.all !== true && Object.keys(filter).length === 0) command.error(`error: ${WHICH}`);
  const { perSecond } = options;
  const asked = { filter, ...(perSecond === undefined ? {} : { per_second: perSecond }) };
  const bulk = await askAdmin(options, async (client) => {
    const begun = await client.bulkReplays.start(asked);
    return options.wait === true ? ended(client, begun, options) : begun;
  });
  printResult(options, bulk, () => sentence(bulk));
  if (bulk.state === "cancelled" || bulk.failed > 0) process.exitCode = 1;
}

/** Whoever waits may look on; a script is told the end alone. */
async function ended(
  { bulkReplays }: AdminClient,
  begun: BulkReplayView,
  { json }: BulkOptions,
): Promise<BulkReplayView> {
  let bulk = begun;
  while (bulk.ended_at === null) {
    await sleep(LOOK_EVERY_MS);
    const before = bulk;
    bulk = await bulkReplays.get(bulk.id);
    if (json !== true && (bulk.done !== before.done || bulk.state !== before.state))
      process.stderr.write(`${bulk.state}: ${bulk.done} of ${bulk.total}\n`);
  }
  return bulk;
}

function sentence({ id, state, total, ...counts }: BulkReplayView): string {
  if (counts.ended_at === null) {
    const failures = total === 1 ? "1 failure" : `${total} failures`;
    return `bulk replay ${id} is ${state}: ${failures}, at most ${counts.per_second} a second\n`;
  }
  const { succeeded, already, failed } = counts;
  return `bulk replay ${id} is ${state}: ${succeeded} succeeded, ${already} needed none any more, ${failed} failed again, of ${total}\n`;
}
