import { withoutControls } from "./plain.ts";

/** Columns padded to their widest cell, with a rule below the head. */
export function table(head: readonly string[], given: readonly (readonly string[])[]): string {
  const rows = given.map((cells) => cells.map(withoutControls));
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return [line(head), widths.map((width) => "-".repeat(width)).join("  "), ...rows.map(line)].join("\n");
}
