import { Command } from "commander";
import { isLoopbackHost, savedAdminToken } from "../config/index.ts";
import type { ListenOptions } from "./listen.ts";
import { ENV_OPTION, loadEnvFile } from "./load-configuration.ts";
import { UsageError, UserError } from "./user-error.ts";

interface GivenOptions {
  readonly from: string;
  readonly to: string;
  readonly since?: string;
  readonly state?: string;
  readonly json?: true;
  readonly env?: string;
}

export function listenCommand(): Command {
  return new Command("listen")
    .description(
      "Forward the callbacks of a deployed development receiver to a server on this machine, byte for byte.",
    )
    .requiredOption("--from <url>", "the CALLBACK_BASE_URL of the receiver, which runs with CAPTURE=on")
    .requiredOption(
      "--to <url>",
      "where to send them, such as http://localhost:3000/hook; without a path each keeps its own",
    )
    .option("--since <time>", "start with recent callbacks, such as 10m; up to 24h (default: new ones only)")
    .option("--state <file>", "store the position there, and resume from it")
    .option("--json", "print a JSON object for each callback, for scripts")
    .option(...ENV_OPTION)
    .addHelpText("after", "\nADMIN_TOKEN, in the environment, is the receiver's. Ctrl-C ends.")
    .action(async (given: GivenOptions) => {
      const options = await optionsOf(given);
      // Only now: a receiver that starts has no use for it.
      const { listen } = await import("./listen.ts");
      await listen(options);
    });
}

async function optionsOf({ from, to, since, state, json, env }: GivenOptions): Promise<ListenOptions> {
  if (env !== undefined) loadEnvFile(env);
  const receiver = addressOf("--from", from, "https://dev.example.com");
  if (receiver.protocol === "http:" && !isLoopbackHost(receiver.hostname)) {
    const words = "expected an https address: ADMIN_TOKEN and the callbacks would cross the network in clear";
    throw new UsageError(`--from: got ${JSON.stringify(from)}, ${words}`);
  }
  return {
    from: receiver,
    to: addressOf("--to", to, "http://localhost:3000/hook"),
    sinceSeconds: since === undefined ? undefined : secondsOf(since),
    statePath: state,
    isJson: json === true,
    token: await tokenOf(receiver),
  };
}

async function tokenOf(receiver: URL): Promise<string> {
  const token = process.env.ADMIN_TOKEN?.trim() || (await generatedToken(receiver));
  if (token === undefined) {
    throw new UserError(
      "ADMIN_TOKEN: is not set; set it to the receiver's, in the environment or with --env",
    );
  }
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new UserError("ADMIN_TOKEN: expected printable characters without spaces");
}

/** What was generated here opens a receiver of this machine alone, and is nothing for another one to see. */
async function generatedToken({ hostname }: URL): Promise<string | undefined> {
  return isLoopbackHost(hostname) ? savedAdminToken(process.env, process.cwd()) : undefined;
}

function addressOf(option: string, text: string, example: string): URL {
  const url = URL.parse(text);
  if (url !== null && ["http:", "https:"].includes(url.protocol) && url.username === "") return url;
  throw new UsageError(
    `${option}: got ${JSON.stringify(text)}, expected an http(s) address such as ${example}`,
  );
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 };
const LONGEST_SINCE = 86_400;

function secondsOf(text: string): number {
  const [, count, unit = ""] = /^(\d{1,5})([smh])$/.exec(text) ?? [];
  const seconds = Number(count) * (UNITS[unit] ?? Number.NaN);
  if (seconds <= LONGEST_SINCE) return seconds;
  throw new UsageError(
    `--since: got ${JSON.stringify(text)}, expected a time up to 24h, such as 30s, 10m or 2h`,
  );
}
