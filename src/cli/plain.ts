const LONGEST = 60;
/**
 * What moves the cursor, turns the order of the letters around (U+202A–202E, U+2066–2069, U+200E/F, U+061C), breaks the line, or is
 * not seen at all: ids that differ would look the same.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{115F}\u{1160}\u{2800}]/gu;

/** Strangers send what they like; a terminal is shown visible characters, and not too many. */
export function plain(text: string): string {
  const shown = withoutControls(text);
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST - 1)}…` : shown;
}

/** The same of a text that is shown whole: what would not be seen stands there as `\u202e`. */
export function withoutControls(text: string): string {
  return text.replace(UNSEEN, escaped);
}

/** The same of a text of several lines. */
export function plainLines(text: string): string {
  return text.replace(UNSEEN, (character) => (/[\n\t]/.test(character) ? character : escaped(character)));
}

/** The same as JSON, which says the same to a script. */
export function plainJson(value: unknown, indent?: number): string {
  return plainLines(JSON.stringify(value, null, indent));
}

/** In the spelling of JSON: a character beyond U+FFFF is two escapes. */
function escaped(character: string): string {
  return character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}
