import { randomBytes } from "node:crypto";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type ProjectKind, projectOf } from "../../src/cli/project-kinds.ts";
import { stripeCallback } from "../../test/support/application.ts";
import { withFiles } from "../../test/support/doc-blocks.ts";

const STRIPE_SECRET = "whsec_of-the-page";

/** A callback that the handler of the pages takes. */
export const paidInvoice = (secret = STRIPE_SECRET) =>
  stripeCallback(undefined, secret, { id: "in_1", amount_paid: 490 });

/** The files that `oncehook init --for` writes, by their paths. */
export function writtenFiles(kind: ProjectKind): Readonly<Record<string, string>> {
  const { files, tsconfig } = projectOf(kind);
  return Object.fromEntries([...files, tsconfig].map(({ path, text }) => [path, text]));
}

/** What a page without a template says to copy from that of Express. */
export function copiedFiles(): Readonly<Record<string, string>> {
  const written = writtenFiles("express");
  const paths = ["oncehook.config.ts", "handlers/invoice-paid.ts", "test/test-receiver.ts"];
  return Object.fromEntries(paths.map((path) => [path, written[path] ?? ""]));
}

/** Lends the files of a page in a folder of their own, where `oncehook` is this project. */
export function withPageFiles(files: Readonly<Record<string, string>>, use: (folder: string) => Promise<void>) {
  return withFiles(
    Object.entries({ ...copiedFiles(), "package.json": '{"type":"module"}', ...files }),
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
