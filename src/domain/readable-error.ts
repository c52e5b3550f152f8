/** What is read of an error between a handler and the failures list. */
const READ = ["name", "message", "stack", "code", "errcode", "cause", "errors"];
const CAUSES_READ = 5;

/**
 * What a handler threw, as it is where everything that is read of it can be read. Otherwise an error in its place: a
 * getter that throws would end the work of whatever reads it, far from the handler.
 */
export function readableError(thrown: unknown): unknown {
  let current = thrown;
  try {
    for (let depth = 0; depth < CAUSES_READ && isObject(current); depth += 1) {
      for (const part of READ) Reflect.get(current, part);
      if (current instanceof Error && typeof current.message !== "string") throw new TypeError("message");
      // A row without a prototype has no text of its own, and is shown by its properties.
      if (Reflect.get(current, "toString") !== undefined) String(current);
      current = Reflect.get(current, "cause");
    }
    return thrown;
  } catch {
    const message = errorPart(thrown, "message");
    const told = typeof message === "string" ? `: ${message}` : "";
    return new Error(`the handler threw an error that cannot be read${told}`);
  }
}

/** A property of whatever was thrown; undefined where it cannot be read. */
export function errorPart(error: unknown, part: string): unknown {
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
