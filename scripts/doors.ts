import { readFileSync } from "node:fs";

/** An entry of the package's `exports`, by the path of its source and of its files in `dist/`, without their ending. */
export interface Door {
  /** `index`, `sources/platforms/index` … */
  readonly name: string;
  /** `oncehook`, `oncehook/sources` … */
  readonly specifier: string;
  /** `src/index.ts` … */
  readonly source: string;
}

type Exported = string | { readonly "oncehook-source": string };

/** What `import` and `require` can name, as package.json has it; files without a source of their own are left out. */
export function doors(manifest = "package.json"): Door[] {
  const { exports } = JSON.parse(readFileSync(manifest, "utf8")) as { exports: Record<string, Exported> };
  return Object.entries(exports).flatMap(([path, exported]) => {
    if (typeof exported === "string") return [];
    const source = exported["oncehook-source"].replace("./", "");
    return [{ specifier: `oncehook${path.slice(1)}`, source, name: source.replace(/^src\//, "").replace(/\.ts$/, "") }];
  });
}
