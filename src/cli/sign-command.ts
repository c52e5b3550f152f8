import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { Command } from "commander";
import { fileTrouble } from "../domain/index.ts";
import { signHmac } from "../verify/index.ts";
import { load } from "./load.ts";
import { UserMistake } from "./user-mistake.ts";

export function signCommand(): Command {
  return new Command("sign")
    .description(
      "Print the X-Signature of a body: HMAC-SHA256 of its bytes with SIGNING_SECRET, lowercase hex.",
    )
    .argument("[file]", "the file with the body; standard input when left out")
    .option("--env <file>", "read variables from a file as well; the environment wins")
    .action(async (file: string | undefined, options: { env?: string }) => {
      const { config } = await load(options, { listens: false });
      const [secret = ""] = config.authentication.signing.secrets;
      process.stdout.write(`${signHmac(secret, await bytesOf(file))}\n`);
    });
}

async function bytesOf(file: string | undefined): Promise<Uint8Array> {
  if (file === undefined) return buffer(process.stdin);
  try {
    return await readFile(file);
  } catch (cause) {
    throw new UserMistake(`the file "${file}" ${fileTrouble(cause)}`, { cause });
  }
}
