import { globSync, readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";

/** One object of deploy/kubernetes, as far as the tests look into it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly generateName?: string; readonly namespace?: string };
  // biome-ignore lint/suspicious/noExplicitAny: every kind has another form; the schemas hold it.
  readonly spec?: any;
  readonly data?: Record<string, string>;
  readonly stringData?: Record<string, string>;
}

export const FOLDER = "deploy/kubernetes";

/** Every object, with the name of its file. */
export function manifests(): (Manifest & { readonly file: string })[] {
  return globSync("*.yaml", { cwd: FOLDER })
    .filter((file) => file !== "kustomization.yaml")
    .toSorted()
    .flatMap((file) =>
      parseAllDocuments(readFileSync(`${FOLDER}/${file}`, "utf8")).map((document) => {
        if (document.errors.length > 0) throw document.errors[0];
        return { ...(document.toJS() as Manifest), file };
      }),
    );
}

/** The one object of that kind. */
export function only(kind: string): Manifest {
  const found = manifests().filter((manifest) => manifest.kind === kind);
  if (found.length !== 1 || found[0] === undefined) throw new Error(`expected one ${kind}, got ${found.length}`);
  return found[0];
}
