import { type QualifiedNames, qualifiedNames } from "../../qualified-names.ts";

/** By pools and their connections. */
const names = new WeakMap<object, QualifiedNames>();
const UNQUALIFIED = qualifiedNames(undefined);

export function shareQualifiedNames(of: object, qualified: QualifiedNames): void {
  names.set(of, qualified);
}

/** How Oncehook's own statements name their tables there. @param of a pool, or one of its connections */
export function qualifiedNamesOf(of: object): QualifiedNames {
  return names.get(of) ?? UNQUALIFIED;
}
