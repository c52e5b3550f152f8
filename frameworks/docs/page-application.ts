import { randomBytes } from "node:crypto";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileBlocks, withFiles } from "../../test/support/doc-blocks.ts";

export const STRIPE_SECRET = "whsec_of-the-page";

/** Lends the files of a page in a folder of their own, where `oncehook` is this project. */
export function withPageFiles(files: Readonly<Record<string, string>>, use: (folder: string) => Promise<void>) {
  // Pages of routes only import the configuration that this one shows.
  const config = fileBlocks("docs/frameworks/nextjs.md")["oncehook.config.ts"] ?? "";
  return withFiles(
    Object.entries({ "oncehook.config.ts": config, ...files }),
    async (folder) => {
      mkdirSync(join(folder, "node_modules"));
      symlinkSync(process.cwd(), join(folder, "node_modules", "oncehook"));
      await use(folder);
    },
    "frameworks",
  );
}

export function pageVariables(url: string): NodeJS.ProcessEnv {
  const ONCEHOOK_ENCRYPTION_KEY = randomBytes(32).toString("base64");
  return { PATH: process.env.PATH, STRIPE_SECRET, ONCEHOOK_DATABASE_URL: url, ONCEHOOK_ENCRYPTION_KEY };
}
