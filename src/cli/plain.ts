const LONGEST = 60;

/** Strangers send what they like; a terminal is shown plain characters, and not too many. */
export function plain(text: string): string {
  const shown = text.replace(/[\p{Cc}\p{Cf}]/gu, "\u{FFFD}");
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST - 1)}…` : shown;
}
