/** A word of a query, such as `order-123`, or a filter, such as `source:stripe`. */
export interface QueryWord {
  /** As it was typed. */
  readonly text: string;
  /** Of a filter: its name, or a path in the payload. */
  readonly name?: string | undefined;
  /** The word or the filter's value, without quotes. */
  readonly value: string;
}

const WORD = /(?:[^\s"]+|"(?:[^"\\]|\\.)*"?)+/g;
const FILTER = /^(\.?[A-Za-z_][\w.-]*):(?!\/\/)(.+)$/s;

/** The words of a query; quotes hold spaces and colons together. */
export function queryWords(text: string): QueryWord[] {
  return (text.match(WORD) ?? []).map((word) => {
    const [, name, given = word] = FILTER.exec(word) ?? [];
    return { text: word, name, value: unquoted(given) };
  });
}

/** Without the quotes; inside them a backslash makes the next character count as itself. */
function unquoted(text: string): string {
  return text.replace(/"((?:[^"\\]|\\.)*)"?/g, (_, inner: string) => inner.replace(/\\(.)/g, "$1"));
}
