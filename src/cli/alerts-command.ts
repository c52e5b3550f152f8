import { Argument, type Command, InvalidArgumentError } from "commander";
import type { AdminClient, AlertKey, AlertView } from "../admin-client/index.ts";
import { durationMs } from "../domain/index.ts";
import { type AdminOptions, adminCommand, callAdmin, printAnswer } from "./call-admin.ts";
import { printResult, table, timeText, UTC_OPTION, type ZoneOptions } from "./output.ts";

const KINDS = ["failures", "accepted", "signatures", "silence"] as const;
const HEAD = ["kind", "source", "event type", "state", "since", "muted until", "by", "reason"];

export function alertsCommand(): Command {
  const mute = ofAlert("mute")
    .description("Send no notification of an alert for a time. If it is still open then, it is reported.")
    .requiredOption("--for <duration>", "how long, such as 30m, 2h or 3d; at most 30d", duration)
    .requiredOption("--reason <text>", "why, for other operators")
    .action(
      async (kind, source, subject, options: AdminOptions & { readonly for: number; readonly reason: string }) => {
        const until = new Date(Date.now() + options.for).toISOString();
        const body = { ...keyOf(kind, source, subject), until, reason: options.reason };
        const ask = ({ alerts }: AdminClient) => alerts.mute(body);
        await printAnswer(
          options,
          ask,
          (alert) => `the alert on ${nameOf(alert)} is muted until ${alert.muted_until}\n`,
        );
      },
    );
  const unmute = ofAlert("unmute")
    .description("End the mute of an alert. If it is open, it is reported.")
    .action(async (kind, source, subject, options: AdminOptions) => {
      const ask = ({ alerts }: AdminClient) => alerts.unmute(keyOf(kind, source, subject));
      await printAnswer(options, ask, (alert) => `the alert on ${nameOf(alert)} is not muted any more\n`);
    });
  return adminCommand("alerts")
    .description("List the alerts that have started: open, muted and resolved.")
    .option(...UTC_OPTION)
    .addCommand(mute)
    .addCommand(unmute)
    .action(async (options: AdminOptions & ZoneOptions) => {
      const list = await callAdmin(options, ({ alerts }) => alerts.list());
      const rows = list.items.map(({ kind, source, subject, state, since, muted_until, muted_by, reason }) => {
        return [
          kind,
          source,
          subject,
          state,
          timeText(since, options),
          timeText(muted_until, options),
          muted_by ?? "",
          reason ?? "",
        ];
      });
      printResult(options, list, () => (rows.length === 0 ? "no alert has started yet\n" : `${table(HEAD, rows)}\n`));
    });
}

function ofAlert(name: string): Command {
  return adminCommand(name)
    .addArgument(new Argument("<kind>", "of alert").choices(KINDS))
    .argument("<source>", "as `oncehook alerts` lists it")
    .argument("[event_type]", "of an alert on one event type");
}

function keyOf(kind: AlertKey["kind"], source: string, subject = ""): AlertKey {
  return { kind, source, subject };
}

function nameOf({ kind, source, subject }: AlertView): string {
  return [kind, "of", subject, source].filter((part) => part !== "").join(" ");
}

/** Milliseconds. */
function duration(text: string): number {
  const ms = durationMs(text);
  if (ms > 0) return ms;
  throw new InvalidArgumentError("Expected a duration such as 30m, 2h or 3d.");
}
