/** A number that JavaScript would change, such as one of twenty digits, as it is written. */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Reviver = (this: unknown, key: string, value: unknown, context?: { readonly source?: string }) => unknown;

const keepDigits: Reviver = (_key, value, context) => {
  const source = context?.source;
  return typeof value === "number" && source !== undefined && String(value) !== source
    ? new ExactNumber(source)
    : value;
};

/** The object or array of a JSON text with every digit of its numbers; undefined for any other text. */
export function parseExact(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text, keepDigits as Parameters<typeof JSON.parse>[1]);
    return typeof value === "object" && value !== null && !(value instanceof ExactNumber) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A value without members, as it is copied and shown. */
export function leafText(value: unknown): string {
  if (value instanceof ExactNumber) return value.text;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A path as jq and most languages write it: `data.items[0]["a b"]`. */
export function childPath(parent: string, key: string, isIndex: boolean): string {
  if (isIndex) return `${parent}[${key}]`;
  if (!/^[A-Za-z_$][\w$]*$/.test(key)) return `${parent}[${JSON.stringify(key)}]`;
  return parent === "" ? key : `${parent}.${key}`;
}

/** All values without members, by their paths. */
export function leavesOf(value: unknown, path = ""): Map<string, string> {
  if (!isTree(value)) return new Map([[path, leafText(value)]]);
  const isIndex = Array.isArray(value);
  return new Map(Object.entries(value).flatMap(([key, one]) => [...leavesOf(one, childPath(path, key, isIndex))]));
}

/** Whether a value has members to unfold. */
export function isTree(value: unknown): value is object {
  return (
    typeof value === "object" && value !== null && !(value instanceof ExactNumber) && Object.keys(value).length > 0
  );
}
