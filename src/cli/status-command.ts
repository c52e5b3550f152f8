import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import type { AdminClient, CallbackRowView, OverviewView, SessionView } from "../admin-client/index.ts";
import { type AdminOptions, adminCommand, printAnswer } from "./call-admin.ts";
import { firstLine } from "./look-up-commands.ts";
import { outcomesText } from "./outcome-counts.ts";
import { escapeControls, shortText, timeText, UTC_OPTION, type ZoneOptions } from "./output.ts";

interface Status {
  /** An application is not asked: its database is read, whether it runs or not. */
  readonly read_from: "receiver" | "database";
  readonly session: SessionView;
  readonly overview: OverviewView;
  readonly last_callback: CallbackRowView | null;
}

export function statusCommand(): Command {
  return adminCommand("status")
    .description("Show whether the receiver responds, what is open, and the next step; as oncehook without a command.")
    .option(...UTC_OPTION)
    .action(async (options: AdminOptions & ZoneOptions) => {
      await printAnswer(options, readStatus, (status) => statusText(status, options));
    });
}

async function readStatus({ session, overview, callbacks }: AdminClient, isApplication: boolean): Promise<Status> {
  const [who, hour, { items }] = await Promise.all([session.get(), overview("hour"), callbacks.list({ limit: 1 })]);
  const read_from = isApplication ? "database" : "receiver";
  return { read_from, session: who, overview: hour, last_callback: items[0] ?? null };
}

/** Whether a folder has a project. Elsewhere the help says more than a receiver that does not respond. */
export async function isProject(env: NodeJS.ProcessEnv, cwd: string): Promise<boolean> {
  const { APPLICATION_PREFIX, savedAdminToken } = await import("./config-modules.ts");
  if (env.ADMIN_TOKEN || env[`${APPLICATION_PREFIX}DATABASE_URL`]) return true;
  if (["ts", "mts", "js", "mjs"].some((end) => existsSync(join(cwd, `oncehook.config.${end}`)))) return true;
  return (await savedAdminToken(env, cwd)) !== undefined;
}

function statusText({ read_from, session, overview, last_callback: last }: Status, zone: ZoneOptions): string {
  const { failures, notifications, alerts, totals } = overview;
  const about = `${session.environment}, version ${session.version}`;
  const open = alerts.filter(({ state }) => state === "open").length;
  const lastText =
    last === null
      ? "none yet"
      : `${timeText(last.timestamp, zone)}  ${escapeControls(last.source ?? "no source")}  ${shortText(last.event_type ?? "?")}  ${last.outcome}`;
  const rows = [
    read_from === "receiver"
      ? ["receiver", `responds; ${about}`]
      : ["database", `of the application, ${about}; ${UNASKED}`],
    ["last callback", lastText],
    ["last hour", outcomesText(totals.outcomes)],
    [
      "failures",
      `${failures.exhausted} exhausted, ${failures.rejected} rejected, ${failures.waiting} waiting for a retry`,
    ],
    ["deliveries", `${notifications.dead} failed, ${notifications.waiting} waiting`],
    ["alerts", `${open} open, ${alerts.length - open} muted`],
    ["problems", problemsText(overview)],
    ...overview.needs_attention.map(({ message }) => ["attention", message]),
    ["next step", nextStep(overview, last)],
  ];
  return rows.map(([name = "", value = ""]) => `${name.padEnd(13)}  ${value}\n`).join("");
}

const UNASKED = "whether it runs is not asked";

/** The most frequent one stands for the others. */
function problemsText({ problems: { open, top } }: OverviewView): string {
  const [first] = top;
  if (first === undefined) return "none open";
  const { count, at_least, title } = first;
  const others = open > 1 ? ", the first one" : "";
  return `${open} open${others}: ${firstLine(title)} (${count}${at_least ? "+" : ""} ×)`;
}

/** The most urgent one. Open problems have their remedies; the lists are for what remains once all are muted. */
function nextStep({ problems, needs_attention, alerts }: OverviewView, last: CallbackRowView | null): string {
  if (problems.open > 0) return "oncehook problems";
  const kinds = new Set(needs_attention.map(({ kind }) => kind));
  if (kinds.has("exhausted_failures")) return "oncehook failures --state exhausted";
  if (kinds.has("rejected_failures")) return "oncehook failures --state rejected";
  if (kinds.has("dead_notifications")) return "oncehook notifications --state dead";
  if (needs_attention.length > 0) return alerts.length > 0 ? "oncehook alerts" : "oncehook sources";
  if (last === null) return "oncehook sources (the address to register), oncehook send (a test callback)";
  return "none; oncehook tail shows callbacks as they come, oncehook --help all commands";
}
