/** Reads the text of a variable. Loading Zod, and making a hundred of its schemas, took half of an import's time. */
export class TextSchema<Value> {
  /** The value in the text; undefined where the text holds none. */
  readonly read: (raw: string) => Value | undefined;
  /** Says what is expected, in words that follow "expected". */
  readonly description: string | undefined;

  constructor(read: (raw: string) => Value | undefined, description?: string) {
    this.read = read;
    this.description = description;
  }

  accepts(raw: string): boolean {
    return this.read(raw) !== undefined;
  }

  transform<Next>(change: (value: Value) => Next | undefined): TextSchema<Next> {
    return new TextSchema((raw) => {
      const value = this.read(raw);
      return value === undefined ? undefined : change(value);
    }, this.description);
  }

  refine(isAllowed: (value: Value) => boolean): TextSchema<Value> {
    return this.transform((value) => (isAllowed(value) ? value : undefined));
  }

  describe(words: string | undefined): TextSchema<Value> {
    return new TextSchema(this.read, words);
  }
}
