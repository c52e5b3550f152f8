import { InvalidArgumentError } from "commander";

/** Reads the value of an option, for Commander: it names the option and exits with 2. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`);
  };
}

/** The place at which a list continues, as the page before it printed it. */
export function parseCursor(text: string): string {
  if (/^[1-9]\d{0,15}(?:\.\d{1,15}){0,2}$/.test(text)) return text;
  throw new InvalidArgumentError("Expected what the page before it printed after --cursor.");
}
