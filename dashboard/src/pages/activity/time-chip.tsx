import { Button, TextInput } from "@mantine/core";
import type { FormEvent } from "react";
import { Chip } from "../../parts/filter-chip.tsx";
import { LOCAL_ZONE, type TimeZone, timeParts, useTimeZone } from "../../parts/time-zone.tsx";
import { type ActivitySearch, TIME_PRESETS } from "./activity-filters.ts";

interface Props {
  readonly search: ActivitySearch;
  readonly change: (next: ActivitySearch) => void;
}

/** Which time the list shows: a preset that counts back from now, or two moments. */
export function TimeChip({ search, change }: Props) {
  const zone = useTimeZone();
  const { since, from, to } = search;
  const apply = (next: Pick<ActivitySearch, "since" | "from" | "to">) =>
    change({ since: undefined, from: undefined, to: undefined, ...next });
  return (
    <Chip label="Time" value={timeLabel(search, zone)} clear={() => apply({})}>
      {(close) => (
        <>
          <ul className="chip-options">
            {TIME_PRESETS.map(({ value, label }) => (
              <li key={value}>
                <button
                  type="button"
                  aria-pressed={value === since}
                  onClick={() => {
                    apply({ since: value });
                    close();
                  }}
                >
                  {label}
                </button>
              </li>
            ))}
          </ul>
          <form
            className="chip-times"
            onSubmit={(event: FormEvent<HTMLFormElement>) => {
              event.preventDefault();
              const data = new FormData(event.currentTarget);
              apply({ from: typedTime(data.get("from"), from, zone), to: typedTime(data.get("to"), to, zone) });
              close();
            }}
          >
            {(["from", "to"] as const).map((name) => (
              <TextInput
                key={name}
                type="datetime-local"
                step={1}
                name={name}
                label={`${name === "from" ? "From" : "To"} (${zone === "utc" ? "UTC" : LOCAL_ZONE})`}
                defaultValue={fieldText(search[name] ?? "", zone)}
              />
            ))}
            <Button type="submit" variant="default">
              Apply
            </Button>
          </form>
        </>
      )}
    </Chip>
  );
}

/** The chosen time in words; undefined without one. */
export function timeLabel({ since, from, to }: ActivitySearch, zone: TimeZone): string | undefined {
  const preset = TIME_PRESETS.find(({ value }) => value === since);
  if (preset !== undefined) return preset.label;
  if (since !== undefined) return `Last ${since}`;
  const text = (at: string | undefined) => {
    if (at === undefined || Number.isNaN(Date.parse(at))) return "";
    const { date, clock } = timeParts(at, zone);
    return `${date} ${clock}`;
  };
  return from === undefined && to === undefined ? undefined : `${text(from)} – ${text(to)}`;
}

/**
 * The typed moment. The field has no milliseconds, and one text for two hours when clocks go back. Unchanged, it
 * keeps the moment of the address.
 */
function typedTime(value: FormDataEntryValue | null, was: string | undefined, zone: TimeZone): string | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  if (was !== undefined && fieldText(was, zone) === fieldText(momentOf(value, zone), zone)) return was;
  return momentOf(value, zone);
}

function momentOf(value: string, zone: TimeZone): string {
  return new Date(zone === "utc" ? `${value}Z` : value).toISOString();
}

/** As the browser's field for dates and times has it, which names no zone. */
function fieldText(iso: string, zone: TimeZone): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return "";
  const offset = zone === "utc" ? 0 : date.getTimezoneOffset() * 60_000;
  return new Date(date.getTime() - offset).toISOString().slice(0, 19);
}
