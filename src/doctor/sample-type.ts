import type { ConfiguredSource } from "../configured/index.ts";
import { fitsTypePattern } from "../domain/index.ts";
import { SampleError, signSample } from "../sources/index.ts";
import { documentedTypes } from "./documented-types.ts";

/**
 * A type of which `oncehook send` can make a signed callback. A handler takes it, or else the platform sends it.
 * @param types those of the source's handlers, patterns among them
 * @returns null where only the platform can sign a callback, or where no such type is known
 */
export async function sampleTypeOf(
  { name, definition }: Pick<ConfiguredSource, "name" | "definition">,
  types: readonly string[],
): Promise<string | null> {
  if (definition.sign === undefined && definition.signBody === undefined) return null;
  const exact = types.find((type) => !type.includes("*"));
  if (exact !== undefined) return canSample({ name, definition }, exact) ? exact : null;
  const known = (await documentedTypes())[definition.preset]?.types.split(" ") ?? [];
  const taken = types.flatMap((type) => [
    ...known.filter((one) => fitsTypePattern(type, one)),
    type.replace("*", "sample"),
  ]);
  const plain = [...taken, ...known, "sample"].filter((type) => !type.includes("*"));
  return plain.slice(0, MOST_TRIED).find((type) => canSample({ name, definition }, type)) ?? null;
}

const MOST_TRIED = 5;
const ORIGIN = "http://localhost";

function canSample({ name, definition }: Pick<ConfiguredSource, "name" | "definition">, type: string): boolean {
  const url = new URL(`/api/${name}/callback`, ORIGIN);
  try {
    signSample(definition, { source: name, type, origin: ORIGIN, url, now: new Date() });
    return true;
  } catch (error) {
    if (error instanceof SampleError) return false;
    throw error;
  }
}
