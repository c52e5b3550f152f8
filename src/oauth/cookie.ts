/** The value of a cookie in the lines of the `Cookie` header; undefined where it is missing, misshapen, or there twice. */
export function cookieOf(lines: readonly string[], name: string, shape: RegExp): string | undefined {
  const values = lines
    .flatMap((line) => line.split(";"))
    .flatMap((pair) => {
      const [key = "", value = ""] = pair.trim().split("=", 2);
      return key === name && shape.test(value) ? [value] : [];
    });
  return values.length === 1 ? values[0] : undefined;
}
