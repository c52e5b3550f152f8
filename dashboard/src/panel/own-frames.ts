import { splitFrames } from "oncehook/admin-client";

/** An error whose stack begins with the frames of the user's code. */
export function ownFramesFirst(error: string): string {
  const { own, foreign } = splitFrames(error);
  return [own, ...foreign].join("\n");
}
