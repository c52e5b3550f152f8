/** Splits a statement at its `$1`, `$2` and so on, for libraries that place values otherwise. One may occur twice. */
export function splitPlaceholders(
  text: string,
  values: readonly string[],
): { readonly parts: readonly string[]; readonly placed: readonly string[] } {
  const parts = text.split(/\$\d+/);
  const placed = Array.from(text.matchAll(/\$(\d+)/g), ([, number]) => values[Number(number) - 1] ?? "");
  return { parts, placed };
}
