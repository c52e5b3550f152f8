import { hasParameters } from "./endpoint-paths.ts";

/** The part of a target before its question mark. */
export function pathOf(target: string): string {
  const mark = target.indexOf("?");
  return mark === -1 ? target : target.slice(0, mark);
}

/** A parameter's value: what no encoding can spell in another way. */
const VALUE = "[A-Za-z0-9._~-]{1,128}";

/** The pattern of a path such as `/hooks/:shop`, with a group for each parameter. */
export function compilePath(path: string): RegExp {
  const parts = path.split("/").map((part) => {
    if (part.startsWith(":")) return `(?<${part.slice(1)}>${VALUE})`;
    return part.replaceAll(/[.~-]/g, "\\$&");
  });
  return new RegExp(`^${parts.join("/")}$`);
}

/** The path without doubled slashes and without one at its end: what a sender with a wrong slash means. */
export const withoutExtraSlashes = (path: string): string => path.replaceAll(/\/+(?=\/|$)/g, "");

/** Tells whether a path is one of these, also with extra slashes: such a callback gets the right address. */
export function pathMatcher(paths: readonly string[]): (path: string) => boolean {
  const exact = new Set(paths.filter((path) => !hasParameters(path)));
  const patterns = paths.filter(hasParameters).map(compilePath);
  const isOne = (path: string) => exact.has(path) || patterns.some((pattern) => pattern.test(path));
  return (path) => isOne(path) || (EXTRA_SLASH.test(path) && isOne(withoutExtraSlashes(path)));
}

const EXTRA_SLASH = /\/(?:\/|$)/;
