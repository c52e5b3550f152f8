import { type Command, Option } from "commander";
import type { AdminClient, NotificationRowView } from "../admin-client/index.ts";
import {
  type AdminOptions,
  adminCommand,
  callAdmin,
  type ListOptions,
  listCommand,
  printAnswer,
  printList,
  wholeNumber,
} from "./call-admin.ts";
import { firstLine } from "./look-up-commands.ts";
import { counted, escapeControls, type Given, timeText, type ZoneOptions } from "./output.ts";

const STATES = ["waiting", "delivered", "dead"] as const;

const HEAD = ["id", "topic", "event_id", "created at", "channel", "state", "attempts", "next attempt", "error"];
const notificationId = wholeNumber(1, Number.MAX_SAFE_INTEGER);

export function notificationsCommand(): Command {
  const replay = adminCommand("replay")
    .description("Deliver the failed deliveries of a notification again, from their first attempt.")
    .argument("<id>", "as `oncehook notifications` lists it", notificationId)
    .action(async (id: number, options: AdminOptions) => {
      const ask = ({ notifications }: AdminClient) => notifications.replay(id);
      await printAnswer(options, ask, ({ deliveries, not_configured }) => {
        const left = escapeControls(not_configured.join(", "));
        const rest = left === "" ? "" : `not configured any more, and left as they are: ${left}\n`;
        return `${counted(deliveries, "delivery", "deliveries")} of notification ${id} will be tried again\n${rest}`;
      });
    });
  const discard = adminCommand("discard")
    .description("Delete the waiting and failed deliveries of a notification.")
    .argument("<id>", "as `oncehook notifications` lists it", notificationId)
    .option("--channel <channel>", "of this channel alone, such as webhook")
    .action(async (id: number, options: AdminOptions & Given<"channel">) => {
      const { channel } = options;
      const ask = ({ notifications }: AdminClient) => notifications.discard(id, { channel });
      await printAnswer(options, ask, ({ deliveries }) => {
        return `${counted(deliveries, "delivery", "deliveries")} of notification ${id} discarded\n`;
      });
    });
  return listCommand("notifications")
    .description("List notifications and how far their deliveries are, newest first.")
    .addOption(new Option("--state <state>", "those with a delivery in this state; dead: a failed one").choices(STATES))
    .addCommand(replay)
    .addCommand(discard)
    .action(async (options: ListOptions & { readonly state?: (typeof STATES)[number] }) => {
      const { state, limit, cursor } = options;
      const list = await callAdmin(options, ({ notifications }) => notifications.list({ limit, cursor, state }));
      const none = state === undefined ? "no notification is stored" : "no such notification";
      printList(
        list,
        options,
        HEAD,
        list.items.flatMap((one) => rowsOf(one, options)),
        none,
      );
    });
}

function rowsOf({ id, topic, event_id, created_at, deliveries }: NotificationRowView, zone: ZoneOptions): string[][] {
  const what = [String(id), topic, event_id, timeText(created_at, zone)];
  if (deliveries.length === 0) return [[...what, "", "waiting", "0", "", ""]];
  return deliveries.map(({ channel, state, attempts, next_attempt_at, error }) => {
    const shown = state === "dead" ? "failed" : state;
    return [...what, channel, shown, String(attempts), timeText(next_attempt_at, zone), firstLine(error ?? "")];
  });
}
