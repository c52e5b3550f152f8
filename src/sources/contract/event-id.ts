const MAX_ID_BYTES = 255;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Why both databases cannot keep an id as it is, in words that follow its name; undefined where they can. */
export function idFault(id: unknown): string | undefined {
  if (id === undefined) return "missing; expected a string";
  if (typeof id !== "string") return "expected a string";
  if (id === "") return "is empty";
  if (Buffer.byteLength(id) > MAX_ID_BYTES) return `is longer than ${MAX_ID_BYTES} bytes`;
  if (CONTROL.test(id)) return "holds control characters";
  return id.isWellFormed() ? undefined : "holds lone surrogates";
}
