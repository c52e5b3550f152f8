const FRAME = /^\s+at /;
/** Frames of packages, of Node and of Oncehook, between which an operator's own code is hard to find. */
const FOREIGN = /node_modules[\\/]|\(?node:|[\\/]oncehook[\\/](?:dist|src)[\\/]/;

export interface SplitError {
  /** The error with the frames of the user's code. */
  readonly own: string;
  readonly foreign: readonly string[];
}

/** Takes the frames of others out of an error with its stack. */
export function splitFrames(error: string): SplitError {
  const isForeign = (line: string) => FRAME.test(line) && FOREIGN.test(line);
  const lines = error.split("\n");
  return { own: lines.filter((line) => !isForeign(line)).join("\n"), foreign: lines.filter(isForeign) };
}

const LONGEST_LINE = 500;

/** Lists show it in place of the whole error. */
export function firstLineOf(error: string): string {
  const [line = ""] = error.split("\n", 1);
  return line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE).toWellFormed()}…` : line;
}

/** Whether a text has a frame of a stack. */
export function hasFrames(text: string): boolean {
  return text.split("\n").some((line) => FRAME.test(line));
}
