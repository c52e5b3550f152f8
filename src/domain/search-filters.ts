import { type CallbackFilter, OUTCOMES } from "./callback-log.ts";
import { closestOption } from "./closest-name.ts";
import { durationMs, hasRealDay } from "./duration.ts";
import { OUTCOME_GROUPS, type OutcomeGroup, outcomesOfGroup } from "./outcome-groups.ts";

/** A query that cannot be read. Its message names the filter, what was expected and, where there is one, the nearest name. */
export class SearchQueryError extends Error {
  override readonly name = "SearchQueryError";
}

export const FILTER_NAMES = [
  "source",
  "outcome",
  "type",
  "status",
  "id",
  "request",
  "address",
  "since",
  "until",
] as const;
export type FilterName = (typeof FILTER_NAMES)[number];

type Reader = (value: string, now: Date) => CallbackFilter;

/** The filters that the columns of the log answer; `id` and `request` are values of the index. */
export const COLUMN_FILTERS: Readonly<Record<Exclude<FilterName, "id" | "request">, Reader>> = {
  source: (source) => ({ source }),
  address: (remoteAddress) => ({ remoteAddress }),
  type: (type) => (type.endsWith("*") ? { eventTypePrefix: type.slice(0, -1) } : { eventType: type }),
  outcome: (value) => ({ outcomes: [...new Set(value.split(",").flatMap(outcomesNamed))] }),
  status: (value) => {
    const [, digits = "", isClass] = /^([1-5](?:\d\d|(xx)))$/i.exec(value) ?? [];
    if (digits === "") throw wrongValue("status", value, "a status such as 401, or a class such as 4xx");
    const first = Number(digits.toLowerCase().replace("xx", "00"));
    return { statuses: [first, isClass === undefined ? first : first + 99] };
  },
  since: (value, now) => ({ from: timeOf("since", value, now) }),
  until: (value, now) => ({ to: timeOf("until", value, now) }),
};

function outcomesNamed(name: string): readonly string[] {
  if (OUTCOME_GROUPS.includes(name as OutcomeGroup)) return outcomesOfGroup(name as OutcomeGroup);
  if (OUTCOMES.includes(name)) return [name];
  throw wrongValue("outcome", name, `${OUTCOME_GROUPS.join(", ")} or a code of docs/errors.md`, [
    ...OUTCOME_GROUPS,
    ...OUTCOMES,
  ]);
}

const DATE = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/i;
/** Past the year 9999 ISO 8601 has another form. */
const [EARLIEST, LATEST] = [0, Date.UTC(9999, 0)];

/** A time without a zone is in UTC, since the answer must not depend on where the receiver runs. */
function timeOf(name: FilterName, value: string, now: Date): string {
  const ago = durationMs(value);
  const zoned = /(?:Z|[+-]\d\d:?\d\d)$/i.test(value.slice(10)) || value.length === 10 ? value : `${value}Z`;
  const isDate = DATE.test(value) && hasRealDay(value);
  const at = Number.isNaN(ago) ? (isDate ? Date.parse(zoned) : Number.NaN) : now.getTime() - ago;
  if (!Number.isNaN(at)) return new Date(Math.min(Math.max(at, EARLIEST), LATEST)).toISOString();
  throw wrongValue(name, value, "a time ago such as 30m, 24h or 3d, a day such as 2026-11-20, or a time in ISO 8601");
}

function wrongValue(name: FilterName, value: string, expected: string, near: readonly string[] = []): SearchQueryError {
  const nearest = closestOption(value, near);
  const hint = nearest === undefined ? "" : `; did you mean ${name}:${nearest}?`;
  return new SearchQueryError(`${name}: got ${JSON.stringify(value)}, expected ${expected}${hint}`);
}
