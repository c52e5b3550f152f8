import type { CallbackFilters } from "oncehook/admin-client";
import type { Span } from "./views.ts";

/** The query of an address, not validated. */
export type Raw = Readonly<Record<string, unknown>>;

/** All values are texts: an event id of digits stays what it is. */
export function parseSearch(search: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(search));
}

export function stringifySearch(search: Raw): string {
  const pairs = Object.entries(search).flatMap(([name, value]) => {
    const text = searchText(value);
    return text === undefined ? [] : [[name, text] as [string, string]];
  });
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs)}`;
}

export const CALLBACK_FILTERS = [
  "from",
  "to",
  "source",
  "event_type",
  "event_id",
  "status",
  "outcome",
  "remote_address",
] as const satisfies readonly (keyof CallbackFilters)[];

export function overviewSearch(raw: Raw): { readonly span?: Span } {
  const span = oneOf(raw.span, ["hour", "day", "month"] as const);
  return span === undefined ? {} : { span };
}

/** The zone of all times: `tz=utc`, or the reader's. */
export function zoneSearch(raw: Raw): { readonly tz?: "utc" | undefined } {
  return raw.tz === "utc" ? { tz: "utc" } : {};
}

export function auditSearch(raw: Raw): { readonly action?: string; readonly actor?: string } {
  return picked(raw, ["action", "actor"] as const);
}

/** The source whose callback to compose. */
export function sandboxSearch(raw: Raw): { readonly source?: string } {
  return picked(raw, ["source"] as const);
}

/** Of the backfills: the handler for which one is to be started. */
export function backfillSearch(raw: Raw): { readonly handler?: string | undefined } {
  return picked(raw, ["handler"] as const);
}

/** Of the configuration: a part of a name or value, and whether defaults are shown. */
export function configurationSearch(raw: Raw): { readonly find?: string; readonly show?: "all" | undefined } {
  return { ...picked(raw, ["find"] as const), ...(raw.show === "all" ? { show: "all" } : {}) };
}

/** The page to open after the sign-in: an address of this origin only. */
export function signInSearch(raw: Raw): { readonly back?: string } {
  const back = searchText(raw.back);
  return back !== undefined && /^\/(?![/\\])/.test(back) ? { back } : {};
}

/** The named parameters that have a value. */
export function picked<Name extends string>(raw: Raw, names: readonly Name[]): { [N in Name]?: string } {
  const values: { [N in Name]?: string } = {};
  for (const name of names) {
    const text = searchText(raw[name]);
    if (text !== undefined) values[name] = text;
  }
  return values;
}

/** The value, where it is one of these. */
export function oneOf<Value extends string>(value: unknown, values: readonly Value[]): Value | undefined {
  return values.find((one) => one === value);
}

export function searchText(value: unknown): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  return String(value);
}
