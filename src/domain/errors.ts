/** The properties that are read of an error between a handler and the failures list. */
const PROPERTIES = ["name", "message", "stack", "code", "errcode", "cause", "errors"];
const MAX_CAUSES = 5;

/**
 * A thrown value itself if all its properties can be read, otherwise an error in its place. A getter that throws would
 * end the work of its reader, far from the handler.
 */
export function readableError(thrown: unknown): unknown {
  let current = thrown;
  try {
    for (let depth = 0; depth < MAX_CAUSES && isObject(current); depth += 1) {
      for (const part of PROPERTIES) Reflect.get(current, part);
      if (current instanceof Error && typeof current.message !== "string") throw new TypeError("message");
      // A row without a prototype has no text of its own, and is shown by its properties.
      if (Reflect.get(current, "toString") !== undefined) String(current);
      current = Reflect.get(current, "cause");
    }
    return thrown;
  } catch {
    const message = errorProperty(thrown, "message");
    const suffix = typeof message === "string" ? `: ${message}` : "";
    return new Error(`the handler threw an error that cannot be read${suffix}`);
  }
}

/** A property of a thrown value; undefined where it cannot be read. */
export function errorProperty(error: unknown, part: string): unknown {
  if (!isObject(error)) return undefined;
  try {
    return Reflect.get(error, part);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

/** An error's message, for an operator. An error that stands for several tried addresses has only a code. */
export function errorReason(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(errorReason).join("; ");
  return error instanceof Error ? error.message || String(Reflect.get(error, "code")) : String(error);
}

/** The innermost cause: what the driver or the system reported. */
export function rootCause(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? rootCause(error.cause) : error;
}

/** A word as a shell reads it, in a command that a message shows. */
export function shellWord(word: string): string {
  return /^[\w./@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EACCES: "may not be read by this user",
  EISDIR: "is a folder",
};

/** Why a file cannot be read, in words that follow its name: the system's message would repeat it. */
export function fileErrorText(error: unknown): string {
  const { code = "" } = error as NodeJS.ErrnoException;
  return WORDS[code] ?? `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
}
