import { type Command, Option } from "commander";
import type { NotificationView } from "../admin-client/index.ts";
import {
  type AdminOptions,
  adminCommand,
  callAdmin,
  type ListOptions,
  listCommand,
  printList,
} from "./call-admin.ts";
import { firstLine } from "./look-up-commands.ts";
import { wholeNumber } from "./option-parsers.ts";
import { escapeControls, type JsonOptions, printResult } from "./output.ts";

interface NotificationListOptions extends ListOptions {
  readonly state?: "waiting" | "delivered" | "dead";
}

interface DiscardOptions extends AdminOptions, JsonOptions {
  readonly channel?: string;
}

const HEAD = [
  "id",
  "topic",
  "event_id",
  "created at",
  "channel",
  "state",
  "attempts",
  "next attempt",
  "error",
];
const notificationId = wholeNumber(1, Number.MAX_SAFE_INTEGER);

/** Lists the outbox; below it stand the commands for deliveries that are stuck. */
export function notificationsCommand(): Command {
  const replay = adminCommand("replay")
    .description("Deliver the failed deliveries of a notification again, from their first attempt.")
    .argument("<id>", "as `oncehook notifications` lists it", notificationId)
    .action(async (id: number, options: AdminOptions & JsonOptions) => {
      const answer = await callAdmin(options, ({ notifications }) => notifications.replay(id));
      printResult(options, answer, () => {
        const left = answer.not_configured.join(", ");
        const rest =
          left === "" ? "" : `not configured any more, and left as they are: ${escapeControls(left)}\n`;
        return `${deliveriesText(answer.deliveries)} of notification ${id} will be tried again\n${rest}`;
      });
    });
  const discard = adminCommand("discard")
    .description(
      "Delete the waiting and failed deliveries of a notification; what was delivered stays listed.",
    )
    .argument("<id>", "as `oncehook notifications` lists it", notificationId)
    .option("--channel <channel>", "of this channel alone, such as webhook")
    .action(async (id: number, options: DiscardOptions) => {
      const { channel } = options;
      const query = channel === undefined ? {} : { channel };
      const answer = await callAdmin(options, ({ notifications }) => notifications.discard(id, query));
      printResult(
        options,
        answer,
        () => `${deliveriesText(answer.deliveries)} of notification ${id} discarded\n`,
      );
    });
  return listCommand("notifications")
    .description("List notifications and how far their deliveries are, newest first.")
    .addOption(
      new Option("--state <state>", "those with a delivery in this state; dead: a failed one").choices([
        "waiting",
        "delivered",
        "dead",
      ]),
    )
    .addCommand(replay)
    .addCommand(discard)
    .action(async (options: NotificationListOptions) => {
      const { state, limit, cursor } = options;
      const query = {
        limit,
        ...(cursor === undefined ? {} : { cursor }),
        ...(state === undefined ? {} : { state }),
      };
      const list = await callAdmin(options, ({ notifications }) => notifications.list(query));
      const none = state === undefined ? "no notification is stored" : "no such notification";
      printList(list, options, HEAD, list.items.flatMap(rowsOf), none);
    });
}

/** A line for each delivery; one for a notification that no channel has yet. */
function rowsOf({ id, topic, event_id, created_at, deliveries }: NotificationView): string[][] {
  const what = [String(id), escapeControls(topic), event_id, created_at];
  if (deliveries.length === 0) return [[...what, "", "waiting", "0", "", ""]];
  return deliveries.map(({ channel, state, attempts, next_attempt_at, error }) => [
    ...what,
    escapeControls(channel),
    state === "dead" ? "failed" : state,
    String(attempts),
    next_attempt_at ?? "",
    firstLine(error ?? ""),
  ]);
}

function deliveriesText(count: number): string {
  return count === 1 ? "1 delivery" : `${count} deliveries`;
}
