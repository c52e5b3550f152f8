import { parseJson } from "./event.ts";

/** Keys and, in lists, positions from the top of a text of JSON. It changes while the text is read: copy what you keep. */
export type JsonPath = readonly (string | number)[];

const [QUOTE, COMMA, COLON, BACKSLASH] = [34, 44, 58, 92];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];
const SPACE = 32;
const LITERAL = /[^\s,\]}]+/y;
const INNER_JSON = /^\s*[{[].*[}\]]\s*$/s;
/** Platforms put JSON into strings of JSON; deeper ones than this are read as texts. */
const MAX_LEVELS = 3;

/**
 * Calls `visit` with each string, number and boolean of a text of JSON, in their order. A number comes as it is written, since
 * an amount such as `12.50` is searched as it stands. A text that was cut off is read up to there; nothing is thrown.
 */
export function eachJsonLeaf(json: string, visit: (leaf: string, path: JsonPath) => void): void {
  readJson(json, [], MAX_LEVELS, visit);
}

export function pathText(path: JsonPath): string {
  return path.join(".");
}

function readJson(
  json: string,
  path: (string | number)[],
  levels: number,
  visit: (leaf: string, path: JsonPath) => void,
): void {
  const depth = path.length;
  let isKeyNext = false;
  for (let at = 0; at < json.length; ) {
    const code = json.charCodeAt(at);
    if (code <= SPACE || code === COLON) at += 1;
    else if (code === QUOTE) {
      const end = endOfString(json, at);
      const text = unescaped(json.slice(at + 1, end - 1));
      at = end;
      if (isKeyNext) path[path.length - 1] = text;
      else if (levels > 0 && isJson(text)) readJson(text, path, levels - 1, visit);
      else visit(text, path);
      isKeyNext = false;
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      path.push(code === OPEN_LIST ? 0 : "");
      isKeyNext = code === OPEN_OBJECT;
      at += 1;
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      if (path.length > depth) path.pop();
      isKeyNext = false;
      at += 1;
    } else if (code === COMMA) {
      const place = path.at(-1);
      if (typeof place === "number" && path.length > depth) path[path.length - 1] = place + 1;
      else isKeyNext = path.length > depth;
      at += 1;
    } else {
      LITERAL.lastIndex = at;
      const literal = LITERAL.exec(json)?.[0] ?? "";
      if (literal !== "null" && literal !== "") visit(literal, path);
      at += Math.max(1, literal.length);
    }
  }
  path.length = depth;
}

/** Past the closing quote, or past the text's end and one where it was cut off. */
function endOfString(json: string, open: number): number {
  for (let at = json.indexOf('"', open + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (json.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return at + 1;
  }
  return json.length + 1;
}

/** A text such as `[urgent] …` is none. */
function isJson(text: string): boolean {
  return INNER_JSON.test(text) && parseJson(text) !== undefined;
}

function unescaped(raw: string): string {
  if (!raw.includes("\\")) return raw;
  return (parseJson(`"${raw}"`) ?? raw) as string;
}
