/** Frames of packages and of Node itself, below which an operator's own code is hard to find. */
const FOREIGN = /node_modules|node:internal|\(node:|\/oncehook\/(?:src|dist)\//;

/** An error whose stack begins with the frames of the user's code. */
export function ownFramesFirst(error: string): string {
  const lines = error.split("\n");
  const isFrame = (line: string) => /^\s+at /.test(line);
  const own = lines.filter((line) => isFrame(line) && !FOREIGN.test(line));
  const foreign = lines.filter((line) => isFrame(line) && FOREIGN.test(line));
  return [...lines.filter((line) => !isFrame(line)), ...own, ...foreign].join("\n");
}
