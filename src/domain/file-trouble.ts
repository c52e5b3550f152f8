const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EACCES: "may not be read by this user",
  EISDIR: "is a folder",
};

/** Why a file cannot be read, in words that follow its name; the system's own would name it a second time. */
export function fileTrouble(error: unknown): string {
  const { code = "" } = error as NodeJS.ErrnoException;
  return WORDS[code] ?? `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
}
