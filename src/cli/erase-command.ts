import { type Command, InvalidArgumentError } from "commander";
import type { AdminClient, ErasureView } from "../admin-client/index.ts";
import { type AdminOptions, adminCommand, printAnswer } from "./call-admin.ts";
import { counted } from "./output.ts";

interface EraseOptions extends AdminOptions {
  readonly where: { readonly path: string; readonly value: string };
  readonly dryRun?: true;
}

/** All that is stored is read, since payloads have no index. */
const LONGEST_MS = 3_600_000;

const WHAT_IT_LEAVES = `
Records stay, without the value: a late duplicate is not processed again. A failed event runs only if its platform
sends it again. Reasons that operators typed, tables of your own, files of the log and backups that were made before keep
what they hold.`;

export function eraseCommand(): Command {
  return adminCommand("erase")
    .description("Erase a person's payloads from all that Oncehook stores. The audit log gets the proof.")
    .requiredOption(
      "--where <path=value>",
      "of all events that have the value there, such as customer=cus_1",
      parseWhere,
    )
    .option("--dry-run", "only count what would be erased")
    .addHelpText("after", WHAT_IT_LEAVES)
    .action(async (options: EraseOptions) => {
      const ask = ({ erasures }: AdminClient) => erasures.start(options.where, { dry_run: options.dryRun ?? false });
      await printAnswer(options, ask, erasureSummary, () => LONGEST_MS);
    });
}

function parseWhere(text: string): EraseOptions["where"] {
  const [, path, value] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (path === undefined || value === undefined)
    throw new InvalidArgumentError("Expected a path and a value, such as customer=cus_1.");
  return { path, value };
}

function erasureSummary({ dry_run, events, digest, unreadable, ...counts }: ErasureView): string {
  const { originals, callbacks, failures, notifications, captures } = counts;
  const parts = [
    counted(originals, "original"),
    `${callbacks} log ${callbacks === 1 ? "entry" : "entries"}`,
    counted(failures, "failure"),
    counted(notifications, "notification"),
    ...(captures === 0 ? [] : [counted(captures, "captured callback")]),
  ];
  const verb = dry_run ? "would be erased; nothing was changed" : "erased";
  const unread = unreadable === 0 ? "" : `${counted(unreadable, "payload")} could not be decrypted: see the log\n`;
  return `${counted(events, "event")} ${verb}: ${parts.join(", ")}\n${unread}digest of the events: ${digest}\n`;
}
