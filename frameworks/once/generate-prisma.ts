import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const SCHEMA = at("schema.prisma");
/** Prisma keeps a copy of the schema beside what it generated. */
const GENERATED = at("../node_modules/.prisma/client/schema.prisma");

if (import.meta.main) generatePrisma();

/** Generates Prisma's client into node_modules/, without the engine that the generator would download and not use. */
export default function generatePrisma(): void {
  if (existsSync(GENERATED) && readFileSync(GENERATED, "utf8") === readFileSync(SCHEMA, "utf8")) return;
  execFileSync("node_modules/.bin/prisma", ["generate", `--schema=${SCHEMA}`], {
    cwd: at(".."),
    env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: "/bin/true" },
    stdio: ["ignore", "ignore", "inherit"],
  });
}
