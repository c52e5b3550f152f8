import { ApiError } from "./api-client.ts";
import { property } from "./api-json.ts";

/** The array of a page. @throws ApiError where there is none: an empty page must not look like the end */
export function eventsOf(json: unknown, name?: string): readonly unknown[] {
  const events = name === undefined ? json : property(json, name);
  if (Array.isArray(events)) return events;
  const where = name === undefined ? "an array" : `an array \`${name}\``;
  throw new ApiError(`the platform's API returned a page without ${where} of events`, 200);
}

/** The cursor of an API that continues after a page's last id. @throws ApiError for a page without one */
export function cursorAfter(events: readonly { readonly id: string }[], hasMore: boolean): string | undefined {
  if (!hasMore) return undefined;
  const id = events.at(-1)?.id;
  if (id) return id;
  throw new ApiError("the platform's API has more events, but the last one of the page has no id", 200);
}
