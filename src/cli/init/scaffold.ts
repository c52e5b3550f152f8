import { lstat, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CONFIG_FILE_NAMES } from "../../config/index.ts";
import { fileTrouble } from "../../domain/index.ts";
import { UserMistake } from "../user-mistake.ts";
import { IGNORED, ownFiles, type ProjectFile, surroundings } from "./project-files.ts";

export interface Scaffolded {
  /** Paths from the project's folder. */
  readonly written: readonly string[];
  /** Files of the user's that are as they were. */
  readonly kept: readonly string[];
}

/**
 * Writes a project's first files. Nothing is written where one of them is there already.
 * @throws UserMistake that names those
 */
export async function scaffold(folder: string): Promise<Scaffolded> {
  const own = await ownFiles();
  const inTheWay = await present(folder, [
    ...new Set([...own.map(({ path }) => path), ...CONFIG_FILE_NAMES]),
  ]);
  if (inTheWay.length > 0) {
    throw new UserMistake(
      `${inTheWay.join(", ")}: already in ${folder}, and nothing is written over. Nothing was changed; name an empty ` +
        "folder, or take the files away first",
    );
  }
  const around = await surroundings(folder);
  const kept = await present(
    folder,
    around.map(({ path }) => path),
  );
  // Read before anything is written: what cannot be read must not be found out half way.
  const ignore = await ignoreFile(folder);
  const files = [...own, ...around.filter(({ path }) => !kept.includes(path))];
  for (const file of files) await write(folder, file, "wx");
  if (ignore === undefined) return { written: files.map(({ path }) => path), kept: [...kept, ".gitignore"] };
  await write(folder, ignore, "w");
  return { written: [...files, ignore].map(({ path }) => path), kept };
}

async function present(folder: string, paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    paths.map(async (path) => ((await isFree(join(folder, path))) ? [] : [path])),
  );
  return found.flat();
}

/** False also where a file stands in the place of a folder, and for a link that leads nowhere. */
async function isFree(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}

/** The user's own lines, and those that are missing after them; undefined where none is. */
async function ignoreFile(folder: string): Promise<ProjectFile | undefined> {
  const path = ".gitignore";
  const text = await readFile(join(folder, path), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw new UserMistake(`${join(folder, path)} ${fileTrouble(error)}; nothing was changed`, {
      cause: error,
    });
  });
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const missing = IGNORED.filter((line) => !lines.includes(line));
  if (missing.length === 0) return undefined;
  const before = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  return { path, text: `${before}${missing.join("\n")}\n` };
}

async function write(folder: string, { path, text }: ProjectFile, flag: "wx" | "w"): Promise<void> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text, { flag });
}
