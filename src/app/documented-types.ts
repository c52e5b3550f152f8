import { closestName, fitsTypePattern } from "../domain/index.ts";
import type { Handler } from "../handlers/index.ts";
import type { ConfiguredSource } from "./configured-sources.ts";

interface Documented {
  /** The page or the file of an SDK that has the types, separated by spaces. */
  readonly source: string;
  /** Which types are pointed out: those that are not listed, those close to a listed one, or none of a partial list. */
  readonly checked: "all" | "near" | "none";
  readonly types: string;
}

/** Loaded only where a source is configured: the lists are long. */
export async function documentedTypes(): Promise<Readonly<Record<string, Documented>>> {
  const { default: lists } = await import("./documented-types.json", { with: { type: "json" } });
  return lists as Readonly<Record<string, Documented>>;
}

/** What handlers, `only` and `ignore` name and no platform sends, as far as is known. @returns a sentence for each */
export async function undocumentedTypeWarnings(
  configured: readonly ConfiguredSource[],
  handlers: readonly Pick<Handler, "source" | "type">[],
): Promise<string[]> {
  if (configured.length === 0) return [];
  const lists = await documentedTypes();
  return configured.flatMap(({ name, definition: { preset, facts, settings } }) => {
    const list = lists[preset];
    if (list === undefined || list.checked === "none") return [];
    const known = list.types.split(" ");
    const { only = [], ignore = [] } = settings;
    const ofHandlers = handlers.filter(({ source }) => source === name).map(({ type }) => type);
    return [...new Set([...ofHandlers, ...only, ...ignore])].flatMap((type) => {
      // A command of Slack is its user's choice.
      if (type.startsWith("/") || known.some((one) => fitsTypePattern(type, one))) return [];
      const meant = meantType(type, known);
      if (meant === undefined && list.checked === "near") return [];
      const hint = meant === undefined ? "if it is a new one, ignore this" : `did you mean ${meant}?`;
      const fault = `the type ${type} is not among the types of ${facts.title} that Oncehook knows`;
      return [`source ${name}: ${fault}; ${hint}`];
    });
  });
}

/** By its letters (`INVOICE_PAID`), a prefix (`comment_created`), or a slip (`invoice.payed`). */
function meantType(type: string, known: readonly string[]): string | undefined {
  const letters = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const wanted = letters(type);
  const alike = known.find(
    (one) => letters(one) === wanted || one.endsWith(`:${type}`) || type.endsWith(`:${one}`),
  );
  return alike ?? closestName(type, known);
}
