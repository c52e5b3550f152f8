/** A callback of the log, or an event of which the log may have none any more. */
export type Opened = { readonly callback: number } | { readonly source: string; readonly event_id: string };

/** @param open of the address: `7`, or `stripe/evt_1` */
export function openedBy(open: string): Opened {
  if (!open.includes("/")) return { callback: Number(open) };
  const [source = "", ...id] = open.split("/");
  return { source, event_id: id.join("/") };
}

/** The `open` of an event's address. */
export function openOf({ source, event_id }: { readonly source: string; readonly event_id: string }): string {
  return `${source}/${event_id}`;
}
