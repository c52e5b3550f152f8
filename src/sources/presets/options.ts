/** Checks of options for plain JavaScript, which has no compiler, and for TypeScript that Node runs unchecked. */
import { closestOption } from "../../domain/index.ts";
import { OptionError, wrongOption } from "../option-error.ts";

/** @throws OptionError for what is no object, and for an option that is unknown */
export function assertKnown(options: unknown, names: readonly string[]): void {
  if (typeof options !== "object" || options === null) {
    const got = options === undefined ? "none" : `a ${typeof options}`;
    throw new OptionError({ problem: `options: got ${got}, expected an object such as { ${names[0]}: … }` });
  }
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const meant = closestOption(unknown, names);
  const hint = meant === undefined ? `there are ${names.join(", ")}` : `did you mean ${meant}?`;
  throw new OptionError({ option: unknown, problem: `no such option; ${hint}` });
}

/** @throws OptionError where it is missing or empty */
export function assertText(option: string, value: unknown, example: string): asserts value is string {
  if (typeof value !== "string" || value === "") throw wrongOption(option, value, `a text such as ${example}`);
}

/** @throws OptionError for what is no text, an empty one, or one with white space around it */
export function requireText(option: string, value: unknown, example: string): string {
  if (typeof value === "string" && value !== "" && value.trim() === value) return value;
  throw wrongOption(option, value, `a text such as ${example}`);
}

/** @throws OptionError for what is no address over TLS */
export function requireHttps(option: string, url: string): string {
  if (URL.parse(url)?.protocol === "https:") return url;
  throw wrongOption(option, url, "an address with https:");
}

/** @throws OptionError that lists the choices */
export function assertOneOf(option: string, value: unknown, choices: readonly string[]): void {
  if (!choices.some((one) => one === value)) throw wrongOption(option, value, choices.join(", "));
}
