import strings from "big-list-of-naughty-strings/blns.json" with { type: "json" };

/** The Big List of Naughty Strings, by Max Woolf: text that has broken somebody's software. */
export function naughtyStrings(): readonly string[] {
  return strings;
}
