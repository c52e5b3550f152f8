/** In place of a value that the log does not show. */
export const MASKED = "[masked]";

/** Not as a string: the sender did not send this word. */
export function Masked() {
  return <em className="masked">masked</em>;
}
