import type { ConfiguredSource } from "../configured/index.ts";
import { closestName, fitsTypePattern } from "../domain/index.ts";
import type { Handler } from "../handlers/index.ts";

interface Documented {
  /** The page or the file of an SDK that has the types, separated by spaces. */
  readonly source: string;
  /** The types that are reported: all unlisted ones, those close to a listed one, or none of a partial list. */
  readonly checked: "all" | "near" | "none";
  readonly types: string;
}

/** Loaded only where a source is configured: the lists are long. */
export async function documentedTypes(): Promise<Readonly<Record<string, Documented>>> {
  const { default: lists } = await import("./documented-types.json", { with: { type: "json" } });
  return lists as Readonly<Record<string, Documented>>;
}

/** Types of handlers, `only` and `ignore` that no platform is known to send. @returns a sentence for each */
export async function undocumentedTypeWarnings(
  configured: readonly ConfiguredSource[],
  handlers: readonly Pick<Handler, "source" | "type">[],
): Promise<string[]> {
  const all = configured.map(async (source) => {
    const { only = [], ignore = [] } = source.definition.settings;
    const ofHandlers = handlers.filter((handler) => handler.source === source.name).map(({ type }) => type);
    return undocumented(source, [...new Set([...ofHandlers, ...only, ...ignore])]);
  });
  return (await Promise.all(all)).flat();
}

/** The types that a source's platform is not known to send. @returns a sentence for each */
export async function undocumented(
  { name, definition: { preset, facts } }: ConfiguredSource,
  types: readonly string[],
): Promise<string[]> {
  const list = (await documentedTypes())[preset];
  if (list === undefined || list.checked === "none") return [];
  const known = list.types.split(" ");
  return types.flatMap((type) => {
    // A command of Slack is its user's choice.
    if (type.startsWith("/") || known.some((one) => fitsTypePattern(type, one))) return [];
    const meant = meantType(type, known);
    if (meant === undefined && list.checked === "near") return [];
    const hint = meant === undefined ? "if it is a new one, ignore this" : `did you mean ${meant}?`;
    const fault = `the type ${type} is not among the types of ${facts.title} that Oncehook knows`;
    return [`source ${name}: ${fault}; ${hint}`];
  });
}

/** The sources whose platforms document a type, else those with a similar one. */
export async function sourcesOfType(configured: readonly ConfiguredSource[], type: string) {
  const lists = await documentedTypes();
  const found = configured.flatMap(({ name, definition: { preset } }) => {
    const known = lists[preset]?.types.split(" ") ?? [];
    const meant = known.includes(type) ? type : meantType(type, known);
    return meant === undefined ? [] : [{ name, meant }];
  });
  const exact = found.filter(({ meant }) => meant === type);
  return exact.length > 0 ? exact : found;
}

/** By its letters (`INVOICE_PAID`), a prefix (`comment_created`), or a slip (`invoice.payed`). */
function meantType(type: string, known: readonly string[]): string | undefined {
  const letters = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const wanted = letters(type);
  const alike = known.find((one) => letters(one) === wanted || one.endsWith(`:${type}`) || type.endsWith(`:${one}`));
  return alike ?? closestName(type, known);
}
