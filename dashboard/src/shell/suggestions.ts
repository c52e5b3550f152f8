import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { SuggestionView } from "oncehook/admin-client";
import { api } from "../client.ts";

const PAUSE_MS = 80;
const FRESH_MS = 60_000;

/** The last word of a query, which a suggestion completes; undefined within quotes. */
export function lastWord(text: string): string | undefined {
  if (text.split('"').length % 2 === 0) return undefined;
  return text.split(/\s/).at(-1) ?? "";
}

/** The text with its last word completed. A value is followed by the next word. */
export function completed(text: string, { text: suggestion, kind }: SuggestionView): string {
  const word = lastWord(text) ?? "";
  return text.slice(0, text.length - word.length) + suggestion + (kind === "filter" ? "" : " ");
}

/** Ways to go on with what has been typed, from what the receiver has configured. */
export function useSuggestions(text: string, isWanted: boolean): readonly SuggestionView[] {
  const word = lastWord(text);
  const [asked] = useDebouncedValue(word, PAUSE_MS);
  const { data } = useQuery({
    queryKey: ["suggestions", asked],
    queryFn: () => api.search.suggest(asked ?? ""),
    enabled: isWanted && asked !== undefined,
    staleTime: FRESH_MS,
    placeholderData: keepPreviousData,
  });
  if (!isWanted || word === undefined) return [];
  // The suggestions for a shorter word are narrowed down until those for this one are there.
  return (data?.items ?? []).filter(({ text: suggestion }) => fits(suggestion.toLowerCase(), word.toLowerCase()));
}

function fits(suggestion: string, word: string): boolean {
  if (suggestion === word) return false;
  const colon = word.indexOf(":") + 1;
  return suggestion.startsWith(word.slice(0, colon)) && suggestion.slice(colon).includes(word.slice(colon));
}
