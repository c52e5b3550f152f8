/**
 * Compiles files of an application, each under options of its own, and checks the declarations that they get of the
 * named packages. Those of others, and TypeScript's own, would take most of the time.
 * Usage, in the application's folder: node packed-types.mjs <package of the compiler> <JSON of projects>
 * with projects as { file, options, packages }[]. It prints a JSON array with what the compiler says of each.
 */
import { createRequire } from "node:module";
import { join } from "node:path";

const [, , compiler, projects] = process.argv;
const folder = process.cwd();
const ts = createRequire(join(folder, "index.js"))(compiler);

function compile({ file, options: json, packages }) {
  const { options, errors } = ts.convertCompilerOptionsFromJson(json, folder);
  const path = join(folder, file);
  const program = ts.createProgram([path], options);
  const isChecked = ({ fileName }) =>
    fileName === path || packages.some((name) => fileName.includes(`/node_modules/${name}/`));
  const files = program.getSourceFiles().filter(isChecked);
  const missing = packages.filter((name) => !files.some(({ fileName }) => fileName.includes(`/${name}/`)));
  if (missing.length > 0) return `${file} imports nothing of ${missing.join(", ")}`;
  const diagnostics = [
    ...errors,
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...files.flatMap((one) => [...program.getSyntacticDiagnostics(one), ...program.getSemanticDiagnostics(one)]),
  ];
  return ts.formatDiagnostics(diagnostics, {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: () => folder,
    getNewLine: () => "\n",
  });
}

process.stdout.write(JSON.stringify(JSON.parse(projects).map(compile)));
