import { styleText } from "node:util";
import { plain } from "./plain.ts";

/** What a line about a callback begins with: what kind of event it is, and its id. */
export function eventColumns(eventType: string | null, eventId: string | null): readonly [string, string] {
  return [plain(eventType ?? "?").padEnd(18), plain(eventId ?? "?").padEnd(40)];
}

/** The time of day at this machine. @param at in ISO 8601 */
export function timeOfDay(at: string): string {
  return new Date(at).toTimeString().slice(0, 8);
}

/** Green for a success, yellow where the sender is told no, red where it is asked to come again. */
export function coloredStatus(status: number): string {
  return styleText(status < 300 ? "green" : status < 500 ? "yellow" : "red", String(status));
}
