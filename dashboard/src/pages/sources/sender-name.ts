import type { SourceView } from "../../views.ts";

/** The platform's name; a source of your own has none. */
export function senderName({ source, about }: SourceView): string {
  if (about === null) return "The built-in protocol";
  return about.proof === "own" ? source : about.title;
}
