/** The fault of an option. A value that may be a secret is named by its kind or its length only. */
interface OptionFault {
  /** Left out by schemes and contracts, which know no preset. */
  readonly preset?: string | undefined;
  /** Its name, such as `secret` or `reconcile.apiKey`; left out by a place, which stands in one of several options. */
  readonly option?: string | undefined;
  /** Which one of the option's texts, such as `{ index: 1, of: 2 }` for the second of two secrets. */
  readonly place?: { readonly index: number; readonly of: number } | undefined;
  readonly got?: string | undefined;
  readonly expected?: string | undefined;
  /** A sentence in the place of `got` and `expected`. */
  readonly problem?: string | undefined;
}

/** An option of a source that is wrong. Its message is such as ``stripe: `secret` 2 of 2: got …, expected …``. */
export class OptionError extends TypeError {
  override readonly name = "OptionError";
  readonly preset: string | undefined;
  readonly option: string | undefined;
  readonly place: OptionFault["place"];
  readonly got: string | undefined;
  readonly expected: string | undefined;
  /** The words of the message that follow the option's name. */
  readonly problem: string;

  constructor({ preset, option, place, got, expected, problem }: OptionFault, options?: ErrorOptions) {
    const number = place === undefined || place.of === 1 ? "" : ` ${place.index + 1} of ${place.of}`;
    const words = [got && `got ${got}`, expected && `expected ${expected}`].filter(Boolean).join(", ");
    const text = problem ?? words;
    const named = option === undefined ? undefined : `\`${option}\`${number}`;
    super([preset, named, text].filter((part) => part !== undefined).join(": "), options);
    this.preset = preset;
    this.option = option;
    this.place = place;
    this.got = got;
    this.expected = expected;
    this.problem = text;
  }
}

/** Adds to an error of `make` what the thrower does not know. @throws OptionError */
export function naming<Made>(context: Pick<OptionFault, "preset" | "option">, make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    const { option = context.option, preset = context.preset, place, got, expected, problem } = error;
    throw new OptionError({ preset, option, place, got, expected, problem }, { cause: error.cause });
  }
}

/** @param got a phrase, which holds no secret */
export function optionError(option: string | undefined, got: string, expected?: string): OptionError {
  return new OptionError({ option, got, expected });
}

/** @param value shown as it is: never a secret */
export function wrongOption(option: string | undefined, value: unknown, expected: string): OptionError {
  return optionError(option, value === undefined ? "none" : JSON.stringify(value), expected);
}
