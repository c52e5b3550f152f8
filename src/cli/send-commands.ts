import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { Command, Option } from "commander";
import {
  BUILT_IN_PROTOCOL,
  errorReason,
  fitsTypePattern,
  isJsonObject,
  type JsonObject,
  PLATFORM,
  parseJson,
  rootCause,
  VERSIONS,
} from "../domain/index.ts";
import { ENV_OPTION, type LoadedConfiguration, loadConfiguration } from "./load-configuration.ts";
import { type Given, JSON_OPTION, type JsonOptions, printResult } from "./output.ts";
import { httpUrl, readInput, UsageError, UserError, unexpected } from "./user-error.ts";

type SendOptions = JsonOptions & Given<"source" | "data" | "id" | "timestamp" | "url" | "api" | "env">;

const TIME_LIMIT_MS = 35_000;
const sandbox = () => import("../dev/sandbox/index.ts");

export function sendCommand(): Command {
  return new Command("send")
    .description("Send a signed callback and print the answer. Exit code 0 for success.")
    .argument("<type>", "the event type, such as payment_notify, or invoice.paid of a source")
    .option("--source <name>", "a source of the configuration: its platform's body, headers and signature")
    .option("--data <json>", "a JSON object, or a file with one, of a source over its sample (default: a sample)")
    .option("--id <event_id>", "the event's id (default: a new one); the same id again is a duplicate")
    .option("--timestamp <seconds>", "the event's time, in seconds since 1970 (default: now)")
    .option("--url <url>", "where to; an origin gets the source's path (default: CALLBACK_BASE_URL with it)")
    .addOption(new Option("--api <version>", "sent as X-API-Version").choices(VERSIONS))
    .option(...ENV_OPTION)
    .option(...JSON_OPTION)
    .action(send);
}

async function send(type: string, options: SendOptions): Promise<void> {
  const { url } = options;
  if (url !== undefined) httpUrl("--url", url, "http://127.0.0.1:8080/api/platform/callback");
  const timestamp = timestampOf(options.timestamp);
  const callback =
    options.source === undefined || options.source === PLATFORM
      ? await platformCallback(type, options, timestamp)
      : await sourceCallback(options.source, type, options);
  const { address, body, event } = callback;
  const version = options.api === undefined ? {} : { "x-api-version": options.api };
  const response = await post(address, { ...callback.headers, ...version }, body);
  const text = await response.text();
  // A proxy in front may answer with a page.
  const result = { url: address, event, status: response.status, answer: parseJson(text) ?? text };
  printResult(options, result, () => `POST ${address}\n${body}\n\n${response.status}\n${text}\n`);
  if (response.status === 429) process.stderr.write(`oncehook: ${rateLimitMessage(response.headers)}\n`);
  // Some platforms want 204.
  if (response.status !== 200 && response.status !== 204) process.exitCode = 1;
}

async function platformCallback(type: string, options: SendOptions, timestamp: number) {
  const loaded = await loadConfiguration(options, { listens: false });
  const { config } = loaded;
  const sample = options.data === undefined ? await platformSample(type, loaded) : undefined;
  if (!config.servesPlatform || (options.data === undefined && sample === undefined))
    throw await forgotten(type, loaded);
  const data = sample ?? dataOf(options.data ?? "");
  const event = { event_id: options.id ?? `evt_${randomUUID()}`, event_type: type, timestamp, data };
  const body = JSON.stringify(event);
  const { authenticHeaders } = await sandbox();
  const headers = await authenticHeaders(config.authentication, body, type);
  const address = addressOf(options.url, config.baseUrl, (base) => `${base}/api/platform/callback`);
  return { address, headers, body, event };
}

/** By the schema of the handler; undefined for a type that nothing handles. */
async function platformSample(type: string, { handlers }: LoadedConfiguration): Promise<JsonObject | undefined> {
  const { dataFor, sampleData } = await sandbox();
  const handler = handlers.find((one) => one.source === PLATFORM && fitsTypePattern(one.type, type));
  return handler === undefined ? sampleData(type) : dataFor(type, handler.data);
}

/** An origin gets the path of the source. */
export function addressOf(given: string | undefined, baseUrl: string, withPath: (base: string) => string): string {
  if (given === undefined) return withPath(baseUrl);
  const { origin, href } = new URL(given);
  return href === `${origin}/` ? withPath(origin) : given;
}

/** A type of a source without `--source`, or one of the platform without its data. */
async function forgotten(type: string, { config, handlers }: LoadedConfiguration): Promise<UserError> {
  const { configuredSources } = await import("../configured/index.ts");
  const { sourcesOfType } = await import("../doctor/index.ts");
  const sources = await configuredSources(config);
  const fits = ({ name }: { name: string }) =>
    handlers.some((one) => one.source === name && fitsTypePattern(one.type, type));
  const handled = sources.filter(fits).map(({ name }) => ({ name, meant: type }));
  const [first, ...others] = handled.length > 0 ? handled : await sourcesOfType(sources, type);
  const names = first === undefined ? sources : [first, ...others.filter(({ meant }) => meant === first.meant)];
  const list = names.map(({ name }) => name).join(first === undefined ? ", " : " or ");
  const ofSource: string[] = [];
  if (first?.meant === type) ofSource.push(`for the source ${list}, add --source ${first.name}`);
  else if (first !== undefined)
    ofSource.push(`did you mean ${first.meant} of the source ${list}? Add --source ${first.name}`);
  else if (list !== "") ofSource.push(`for a source, add --source with its name: ${list}`);
  if (!config.servesPlatform) {
    const why = `SIGNING_SECRET is not set, so ${BUILT_IN_PROTOCOL} is off`;
    return new UserError([why, ...ofSource].join("; "));
  }
  const data = `for ${BUILT_IN_PROTOCOL}, add --data with a JSON object, such as --data '{"id":"1"}'`;
  return new UsageError(`"${type}" is no built-in type: ${[...ofSource, data].join("; ")}`);
}

/** A callback of one of the configured sources, signed as its platform signs. @throws UserError */
async function sourceCallback(name: string, type: string, { id, data, timestamp, ...options }: SendOptions) {
  const { configuredSources, sourceUrl } = await import("../configured/index.ts");
  const { undocumented } = await import("../doctor/index.ts");
  const { SampleError, signSample } = await import("../sources/index.ts");
  const { config } = await loadConfiguration(options, { listens: false });
  const sources = await configuredSources(config);
  const source = sources.find((one) => one.name === name);
  if (source === undefined) throw unknownSource(name, sources);
  for (const warning of await undocumented(source, [type])) process.stderr.write(`oncehook: ${warning}\n`);
  const url = new URL(addressOf(options.url, config.baseUrl, (base) => sourceUrl(source, base)));
  const { origin } = new URL(config.baseUrl);
  const wanted = { data: data === undefined ? undefined : dataOf(data) };
  try {
    const { headers, body, event } = signSample(source.definition, {
      ...{ source: name, type, id, ...wanted, origin, url, now: new Date() },
      ...(timestamp !== undefined && { time: new Date(timestampOf(timestamp) * 1_000) }),
    });
    return { address: url.href, headers, body: Buffer.from(body).toString(), event };
  } catch (cause) {
    if (!(cause instanceof SampleError)) throw cause;
    throw new UserError(cause.message, { cause });
  }
}

export function unknownSource(name: string, known: readonly { readonly name: string }[]): UsageError {
  const others =
    known.length === 0
      ? `none is configured beside ${BUILT_IN_PROTOCOL}; oncehook sources add <preset> adds one`
      : `there are ${known.map((one) => one.name).join(", ")}`;
  return new UsageError(`--source: got ${JSON.stringify(name)}, which is no source here; ${others}`);
}

async function post(url: string, headers: Record<string, string>, body: string): Promise<Response> {
  const signal = AbortSignal.timeout(TIME_LIMIT_MS);
  try {
    return await fetch(url, { method: "POST", headers, body, redirect: "manual", signal });
  } catch (cause) {
    const { port, protocol } = new URL(url);
    const tried = port === "" ? (protocol === "https:" ? "443" : "80") : port;
    throw new UserError(
      `${url} did not answer on port ${tried}: ${errorReason(rootCause(cause))}. Is the receiver running, and with this port? PORT and ` +
        "CALLBACK_BASE_URL here must be the receiver's; --url names another address",
      { cause },
    );
  }
}

const LIMIT_VARIABLES: Readonly<Record<string, string>> = {
  default: "RATE_LIMIT_DEFAULT",
  callback: "RATE_LIMIT_CALLBACK",
};

/** Names the limits of a 429 that have nothing left, by their variables. Source: the header `RateLimit`. */
function rateLimitMessage(headers: Headers): string {
  const left = [...(headers.get("ratelimit") ?? "").matchAll(/"(\w+)";r=(\d+)/g)];
  const used = left.flatMap(([, name = "", rest]) => (rest === "0" ? [LIMIT_VARIABLES[name] ?? name] : []));
  const variables = used.length > 0 ? used : Object.values(LIMIT_VARIABLES);
  return (
    `too many requests from this address: Retry-After ${headers.get("retry-after") ?? "unknown"} seconds. ` +
    `${variables.join(" or ")} of the receiver sets the limit; for a trial, start it with "off" there`
  );
}

function timestampOf(text: string | undefined): number {
  const now = Math.floor(Date.now() / 1000);
  if (text === undefined) return now;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw unexpected("--timestamp", text, `whole seconds since 1970, such as ${now}`);
}

/** A JSON object, or the file that holds one. */
function dataOf(given: string): JsonObject {
  const isFile = !given.trimStart().startsWith("{") && existsSync(given);
  const value = parseJson(isFile ? readInput(given, `--data: the file "${given}"`).toString() : given);
  if (isJsonObject(value)) return value;
  const got = isFile ? `the file ${given} without one` : JSON.stringify(given);
  throw new UsageError(`--data: got ${got}, expected a JSON object, or a file with one`);
}
