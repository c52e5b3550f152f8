interface Named {
  /** Such as `stripe#audit`; `stripe` is all handlers of the source. */
  readonly handler: string;
  readonly event_type?: string | null | undefined;
  readonly accepted_by_type?: Readonly<Record<string, number>>;
}

const MOST = 3;

/** A handler in words, such as `audit` and `invoice.paid of stripe`. */
export function handlerName({ handler, event_type, accepted_by_type = {} }: Named): {
  readonly name: string;
  readonly of: string;
} {
  const [source = "", name = "All handlers"] = handler.split("#", 2);
  const types = event_type ? [event_type] : Object.keys(accepted_by_type);
  const more = types.length > MOST ? ` and ${types.length - MOST} more` : "";
  const named = types.slice(0, MOST).join(", ") + more;
  return { name, of: named === "" ? `of ${source}` : `${named} of ${source}` };
}
