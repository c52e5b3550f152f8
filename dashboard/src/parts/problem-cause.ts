import { capitalised, outcomeTitle } from "./outcome.ts";
import { plain } from "./plain-message.ts";

/** A problem, as the list of problems and the overview have it. */
interface Named {
  readonly kind: string;
  readonly source: string;
  readonly event_type: string | null;
  readonly title: string;
  readonly code: string;
}

/** The failed thing, and the reason. The title repeats the source, which has a column, and the outcome. */
export function problemCause({ kind, source, event_type, title, code }: Named): {
  readonly what: string;
  readonly why: string;
} {
  if (kind === "refusal") {
    const rest = plain(title.slice(title.indexOf(REFUSED) + REFUSED.length));
    return { what: outcomeTitle(code), why: capitalised(rest) };
  }
  const why = reasonInTitle({ source, title });
  if (kind === "delivery") return { what: "Notifications", why: capitalised(plain(why)) };
  const handler = handlerInTitle({ source, title });
  const what = event_type || "Unread callbacks";
  return { what: handler === undefined ? what : `${what} (${handler})`, why: plain(why) };
}

/** Of several handlers, the name of the one that failed: `order of shop#audit failed`. */
function handlerInTitle({ source, title }: Pick<Named, "source" | "title">): string | undefined {
  const start = ` of ${source}#`;
  const at = title.indexOf(start);
  return at === -1 ? undefined : title.slice(at + start.length).split(" ", 1)[0];
}

/** The texts that receivers and JavaScript write most often, each with a shorter one that says the same. */
const SHORT: readonly (readonly [long: RegExp, short: string])[] = [
  [/^The webhook's endpoint answered/, "Endpoint answered"],
  [/^None authentic; in the day before that (.+) were$/, "0 authentic, $1 before"],
  [/Cannot (read|set) properties of (undefined|null) \((reading|setting) (.+)\)$/, "$3 $4 of $2"],
];

/** A reason in a row of a list; its title and the panel have all of it. */
export function shortReason(why: string): string {
  return SHORT.reduce((text, [long, short]) => text.replace(long, short), why);
}

/** Of failures and of deliveries: the title has the count and the source or the channel before the reason. */
export function reasonInTitle({ source, title }: Pick<Named, "source" | "title">): string {
  const start = title.indexOf(": ", title.indexOf(source) + source.length);
  return start === -1 ? title : title.slice(start + 2);
}

/** Before it a title has the count and the outcome. */
const REFUSED = "), ";
