/** Frames of packages and of Node itself, below which an operator's own code is hard to find. */
const FOREIGN = /node_modules|node:internal|\(node:|\/oncehook\/(?:src|dist)\//;

/** An error without the frames of packages, and those frames. */
export function splitFrames(error: string): { readonly own: string; readonly foreign: readonly string[] } {
  const isForeign = (line: string) => /^\s+at /.test(line) && FOREIGN.test(line);
  const lines = error.split("\n");
  return { own: lines.filter((line) => !isForeign(line)).join("\n"), foreign: lines.filter(isForeign) };
}

/** An error whose stack begins with the frames of the user's code. */
export function ownFramesFirst(error: string): string {
  const { own, foreign } = splitFrames(error);
  return [own, ...foreign].join("\n");
}
