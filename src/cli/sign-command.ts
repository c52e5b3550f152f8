import { buffer } from "node:stream/consumers";
import { Command } from "commander";
import { PLATFORM } from "../domain/index.ts";
import { CONFIG_OPTION, ENV_OPTION, loadConfiguration } from "./load-configuration.ts";
import type { Given } from "./output.ts";
import { addressOf, unknownSource } from "./send-commands.ts";
import { readInput, UsageError, UserError } from "./user-error.ts";

type SignOptions = Given<"env" | "config" | "source" | "type" | "id" | "url">;

export function signCommand(): Command {
  return new Command("sign")
    .description("Print the X-Signature of a body: HMAC-SHA256 with SIGNING_SECRET, lowercase hex.")
    .argument("[file]", "the file with the body; standard input when left out")
    .option("--source <name>", "instead, the headers of a callback of this source, one a line: curl -H @- reads them")
    .option("--type <event_type>", "the event's type, which some sources send in a header")
    .option("--id <event_id>", "the event's id, which some sources send in a header")
    .option("--url <url>", "where to, which some sources sign (default: CALLBACK_BASE_URL with the source's path)")
    .option(...ENV_OPTION)
    .option(...CONFIG_OPTION)
    .action(sign);
}

async function sign(file: string | undefined, options: SignOptions): Promise<void> {
  const { source, type, id, url } = options;
  const ofSource = Object.entries({ type, id, url }).find(([, value]) => value !== undefined);
  if ((source === undefined || source === PLATFORM) && ofSource !== undefined)
    throw new UsageError(`--${ofSource[0]}: is for a source; name it with --source`);
  const { config } = await loadConfiguration(options, { listens: false });
  const read = () => (file === undefined ? buffer(process.stdin) : readInput(file, `the file "${file}"`));
  if (source !== undefined && source !== PLATFORM) {
    const headers = await sourceHeaders(await read(), { ...options, source }, config);
    process.stdout.write(
      Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}\n`)
        .join(""),
    );
    return;
  }
  const [secret] = config.authentication.signing.secrets;
  if (secret === undefined) throw new UserError("SIGNING_SECRET is not set: there is nothing to sign with");
  const { signHmac } = await import("../sources/index.ts");
  process.stdout.write(`${signHmac(secret, await read())}\n`);
}

/** @throws UserError where only the platform can make such a callback, or where its signature stands in the body */
async function sourceHeaders(
  raw: Uint8Array,
  { source, type = "", id, url: to }: SignOptions & { readonly source: string },
  config: Awaited<ReturnType<typeof loadConfiguration>>["config"],
): Promise<Readonly<Record<string, string>>> {
  const { configuredSources, sourceUrl } = await import("../configured/index.ts");
  const { SampleError, signSample } = await import("../sources/index.ts");
  const sources = await configuredSources(config);
  const configured = sources.find((one) => one.name === source);
  if (configured === undefined) throw unknownSource(source, sources);
  const url = new URL(addressOf(to, config.baseUrl, (base) => sourceUrl(configured, base)));
  const { origin } = new URL(config.baseUrl);
  const { definition } = configured;
  if (definition.signBody !== undefined)
    throw new UserError(`${source} is signed in its body; oncehook send --source ${source} sends such a callback`);
  try {
    return signSample(definition, { source, type, id, origin, url, raw, now: new Date() }).headers;
  } catch (cause) {
    if (!(cause instanceof SampleError)) throw cause;
    throw new UserError(cause.message, { cause });
  }
}
