/** An addition to a configuration file. */
export interface SourceCode {
  /** The function of `oncehook/sources`. */
  readonly preset: string;
  readonly source: string;
  readonly variable: string;
}

const OPENING = /^export default defineConfig\(\{/gm;
const SOURCES = /^\s*sources: \{|^export default defineConfig\(\{ sources: \{/gm;
const PRESET_IMPORT = /^import \{ ([\w, ]+?),? \} from "oncehook\/sources";$/gm;
const COMMENT = /\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\/|^\s*\/\/.*$/gm;
const IMPORT = /^import [^;\n]*;$/gm;

/**
 * The text of a configuration file with one more source. It edits only files of the shape that `oncehook init` and this
 * function write, where nothing has the preset's name. The owner edits any other file.
 * @returns also the lines that were added, or are to be
 */
export function withSource(text: string, { preset, source, variable }: SourceCode) {
  const key = /^[a-z]\w*$/.test(source) ? source : `"${source}"`;
  const entry = `${key}: ${preset}({ secret: process.env.${variable} })`;
  const lines = `  import { ${preset} } from "oncehook/sources";\n  sources: { ${entry} },\n`;
  const code = text.replace(COMMENT, "");
  if (new RegExp(`\\b${preset}\\(`).test(code)) return { state: "there", text, lines } as const;
  const openings = [...text.matchAll(OPENING)];
  const places = [...text.matchAll(SOURCES)];
  const imports = [...text.matchAll(PRESET_IMPORT)];
  const mentions = code.match(/\bsources\b/g)?.length ?? 0;
  const last = [...text.matchAll(IMPORT)].at(-1);
  const isUsual =
    openings.length === 1 &&
    // Nothing that would be changed stands in a comment.
    [OPENING, SOURCES, PRESET_IMPORT].every((part) => code.match(part)?.length === text.match(part)?.length) &&
    last !== undefined &&
    imports.length <= 1 &&
    // Its only mentions are the key and the import.
    mentions === places.length + imports.length &&
    places.length <= 1 &&
    !new RegExp(`\\b${preset}\\b`).test(code);
  if (!isUsual) return { state: "unclear", text, lines } as const;
  const [place] = places;
  const [opening] = openings;
  const [imported] = imports;
  const at = place ?? opening;
  const end = (at?.index ?? 0) + (at?.[0].length ?? 0);
  const added = place === undefined ? ` sources: { ${entry} },` : ` ${entry},`;
  const withEntry = text.slice(0, end) + added + text.slice(end);
  const names = imported?.[1];
  const withImport =
    names === undefined
      ? withEntry.replace(last[0], () => `${last[0]}\nimport { ${preset} } from "oncehook/sources";`)
      : withEntry.replace(`{ ${names}`, () => `{ ${names}, ${preset}`);
  return { state: "changed", text: withImport, lines } as const;
}
