import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import * as apps from "kubernetes-models/apps/v1";
import * as batch from "kubernetes-models/batch/v1";
import * as networking from "kubernetes-models/networking.k8s.io/v1";
import * as policy from "kubernetes-models/policy/v1";
import * as core from "kubernetes-models/v1";
import ts from "typescript";
import type { Manifest } from "./manifests.ts";

type Models = Record<string, unknown>;
type ModelOf = new (data: object) => { validate(): void };

const GROUPS: Record<string, Models> = {
  v1: core,
  "apps/v1": apps,
  "batch/v1": batch,
  "networking.k8s.io/v1": networking,
  "policy/v1": policy,
};

const moduleOf = ({ apiVersion, kind }: Manifest) =>
  resolve("node_modules/kubernetes-models", apiVersion, `${kind}.js`);

/** What Kubernetes' schema says of an object: values that are missing or of another type. */
export function schemaErrors(manifest: Manifest): string | null {
  const Model = GROUPS[manifest.apiVersion]?.[manifest.kind] as ModelOf | undefined;
  if (Model === undefined) return `no schema of ${manifest.kind}`;
  try {
    new Model(manifest).validate();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** What the types made from the same schemas say: they know every field, so that a misspelt one is found too. */
export async function typeErrors(manifests: readonly Manifest[]): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-manifests-"));
  const file = join(folder, "manifests.ts");
  const lines = manifests.map((manifest, index) => {
    const type = `import(${JSON.stringify(moduleOf(manifest))}).I${manifest.kind}`;
    return `export const m${index}: ${type} = ${JSON.stringify(manifest)};`;
  });
  try {
    await writeFile(file, lines.join("\n"));
    const program = ts.createProgram([file], {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      types: [],
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      target: ts.ScriptTarget.ES2024,
    });
    return ts
      .getPreEmitDiagnostics(program)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, " "));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
