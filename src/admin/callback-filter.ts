import { type CallbackFilter, OUTCOMES } from "../domain/index.ts";
import { NO_NUL } from "./request-parameters.ts";

/** The filters over the callback log, as the routes take them. */
export interface CallbackFilterQuery {
  readonly from?: string;
  readonly to?: string;
  readonly source?: string;
  readonly event_type?: string;
  readonly status?: string;
  readonly outcome?: string;
  readonly remote_address?: string;
  readonly event_id?: string;
  readonly text?: string;
}

const MAX_TEXT_LENGTH = 200;
const time = (says: string) => ({ type: "string", format: "date-time", description: says }) as const;
const exactly = (says: string) =>
  ({ type: "string", minLength: 1, maxLength: 255, pattern: NO_NUL, description: says }) as const;

/** For Fastify's validation. */
export const CALLBACK_FILTER_QUERY = {
  from: time("Callbacks that arrived then or later; ISO 8601 with its time zone."),
  to: time("Callbacks that arrived before it."),
  source: exactly("Of this source, such as `platform` or `oauth`."),
  event_type: exactly("Of this event type."),
  status: {
    type: "string",
    pattern: "^[1-5](?:xx|[0-9]{2})$",
    examples: ["401", "4xx"],
    description: "Answered with this HTTP status, such as `401`, or one of a class, such as `4xx`.",
  },
  outcome: {
    type: "string",
    minLength: 1,
    maxLength: 1024,
    description:
      "That ended so: `success`, `already_processed` or a code of docs/errors.md; several, separated by commas, for any of them. With `!` before each one: all others, such as `!endpoint_check`.",
  },
  remote_address: exactly("From this address, as the log has it."),
  event_id: exactly("Only rows of this event."),
  text: {
    type: "string",
    minLength: 1,
    maxLength: MAX_TEXT_LENGTH,
    pattern: NO_NUL,
    description:
      "A part of the masked body. The letters A to Z are as good as a to z; every other character is itself alone.",
  },
} as const;

/** @throws an error that is answered 400, for a value that no schema refuses */
export function callbackFilter(query: CallbackFilterQuery): CallbackFilter {
  const { from, to, source, event_type, status, outcome, remote_address, event_id, text } = query;
  return {
    ...(from === undefined ? {} : { from: isoTime("from", from) }),
    ...(to === undefined ? {} : { to: isoTime("to", to) }),
    ...(source === undefined ? {} : { source }),
    ...(event_type === undefined ? {} : { eventType: event_type }),
    ...(status === undefined ? {} : { statuses: statusesOf(status) }),
    ...(outcome === undefined ? {} : { outcomes: outcomesOf(outcome) }),
    ...(remote_address === undefined ? {} : { remoteAddress: remote_address }),
    ...(event_id === undefined ? {} : { eventId: event_id }),
    ...(text === undefined ? {} : { text }),
  };
}

/** No callback came before or after; past the year 9999 times are spelled in another way. */
const [EARLIEST, LATEST] = [0, Date.UTC(9999, 0)];

/** The schema takes a leap second, JavaScript does not. */
function isoTime(name: string, text: string): string {
  const time = Date.parse(text);
  if (!Number.isNaN(time)) return new Date(Math.min(Math.max(time, EARLIEST), LATEST)).toISOString();
  throw badRequest(`${name}: got ${JSON.stringify(text)}, expected a time such as 2026-03-04T12:00:00Z`);
}

function statusesOf(status: string): readonly [number, number] {
  const first = Number(status.replace("xx", "00"));
  return [first, status.endsWith("xx") ? first + 99 : first];
}

function outcomesOf(text: string): readonly string[] {
  const words = text.split(",");
  const excluded = words.filter((word) => word.startsWith("!"));
  if (excluded.length > 0 && excluded.length < words.length)
    throw badRequest(`outcome: got ${JSON.stringify(text)}, expected "!" before each of them or before none`);
  const outcomes = words.map((word) => word.replace(/^!/, ""));
  const unknown = outcomes.find((outcome) => !OUTCOMES.includes(outcome));
  if (unknown === undefined)
    return excluded.length === 0 ? outcomes : OUTCOMES.filter((outcome) => !outcomes.includes(outcome));
  throw badRequest(
    `outcome: there is no ${JSON.stringify(unknown)}; expected success, already_processed or a code of docs/errors.md`,
  );
}

function badRequest(message: string): Error {
  return Object.assign(new Error(message), { statusCode: 400 });
}
