/** Spreadsheets read these as the beginning of a formula: full-width signs too, and after invisible characters. */
const FORMULA_START = /^(?:[\t\r\n]|[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠])/u;
/**
 * A spreadsheet that splits at `;` or tabs, as many locales do, ignores these quotes. A part after one of them, or after a
 * line end, is another cell. The second group is the sign that it begins with, if any.
 */
const EMBEDDED_CELLS = /([;\t\r\n][;\s\p{Cc}\p{Cf}"']*)([=+\-@＝＋－＠]?)/gu;

/** RFC 4180, every cell in quotes. After an apostrophe a spreadsheet reads text. */
export function csvLine(cells: readonly string[]): string {
  const quoted = cells.map((cell) => {
    const text = cell.replace(EMBEDDED_CELLS, (part, before, sign) => (sign === "" ? part : `${before}'${sign}`));
    return `"${(FORMULA_START.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
  });
  return `${quoted.join(",")}\r\n`;
}
