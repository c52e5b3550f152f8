const LONGEST = 60;
const REPLACEMENT = "\u{FFFD}";

/** Strangers send what they like; a terminal is shown plain characters, and not too many. */
export function plain(text: string): string {
  const shown = text.replace(/[\p{Cc}\p{Cf}]/gu, REPLACEMENT);
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST - 1)}…` : shown;
}

/** The same of a text that is shown whole: nothing in it moves the cursor or changes a colour. */
export function withoutControls(text: string): string {
  return text.replace(/\p{Cc}/gu, REPLACEMENT);
}
