/**
 * Compiles projects, each under its own tsconfig.json, and prints a JSON array with what the compiler says of each.
 * Arguments: their folders. Only their own files are checked: `npm run types` checks those of Oncehook, which takes
 * three quarters of the time of `tsc`. Projects with the same options share what is parsed.
 */
import { join } from "node:path";
import ts from "typescript";

const parsed = new Map<string, ts.SourceFile | undefined>();

function hostOf(options: ts.CompilerOptions): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile;
  const all = JSON.stringify({ ...options, configFilePath: undefined });
  host.getSourceFile = (path, language, ...rest) => {
    const key = JSON.stringify([path, typeof language === "object" && language.impliedNodeFormat, all]);
    if (!parsed.has(key)) parsed.set(key, read(path, language, ...rest));
    return parsed.get(key);
  };
  return host;
}

function diagnosticsOf(folder: string): readonly ts.Diagnostic[] {
  const path = join(folder, "tsconfig.json");
  const { config, error } = ts.readConfigFile(path, ts.sys.readFile);
  if (error !== undefined) return [error];
  const own = { customConditions: ["oncehook-source"], rewriteRelativeImportExtensions: true, noEmit: true };
  const { options, fileNames, errors } = ts.parseJsonConfigFileContent(config, ts.sys, folder, own, path);
  const program = ts.createProgram({ rootNames: fileNames, options, host: hostOf(options) });
  const ofFiles = fileNames.flatMap((name) => {
    const file = program.getSourceFile(name);
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
  });
  return [...errors, ...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics(), ...ofFiles];
}

const said = process.argv.slice(2).map((folder) =>
  ts.formatDiagnostics(diagnosticsOf(folder), {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: () => folder,
    getNewLine: () => "\n",
  }),
);
process.stdout.write(JSON.stringify(said));
