import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import type { Command } from "commander";
import type { AdminClient, CallbackView } from "../admin-client/index.ts";
import { ERASED, isJsonObject, PLATFORM, parseJson, sourceOf } from "../domain/index.ts";
import { type AdminOptions, adminCommand, callAdmin } from "./call-admin.ts";
import type { Fixture } from "./fixture-test.ts";
import { loadConfiguration } from "./load-configuration.ts";
import { askAboutEvent } from "./look-up-commands.ts";
import { type Given, printResult } from "./output.ts";
import { UserError } from "./user-error.ts";

type FixtureOptions = AdminOptions & Given<"source"> & { readonly folder: string };

export function fixtureCommand(): Command {
  return adminCommand("fixture")
    .description("Write the callback of an event, masked, and a test that signs it again and sends it.")
    .argument("<event_id>", "the event")
    .option("--source <source>", "where it came from (default: the one source that has it)")
    .option("--folder <folder>", "the folder of the tests", "test")
    .action(fixture);
}

async function fixture(id: string, options: FixtureOptions): Promise<void> {
  const { source, folder } = options;
  const callback = await callAdmin(options, (client) =>
    askAboutEvent(client, { id, source, isFailure: false }, (key) => callbackOf(client, key)),
  );
  const { fixtureTest } = await import("./fixture-test.ts");
  const found = await describeFixture(callback, options);
  const name = fileName([found.source, found.type, id].join("-"));
  const body = join(folder, "fixtures", `${name}.${isJsonObject(parseJson(callback.body)) ? "json" : "txt"}`);
  const test = join(folder, `${name}.test.ts`);
  const written = writeAll([
    [body, callback.body],
    [test, fixtureTest(found, { body: importPath(test, body), config: await configFile(test) })],
  ]);
  const run = `node --env-file-if-exists=.env.test --test ${test}`;
  printResult(options, { ...found, body, test }, () => `${written.join("\n")}\n\nRun it: ${run}\n`);
}

/** The newest callback of it that a handler has seen, or else the newest one. */
async function callbackOf(client: AdminClient, key: { source: string; event_id: string }): Promise<CallbackView> {
  const { source, event_id } = key;
  const { items } = await client.callbacks.list({ source, event_id, limit: 200 });
  const newest = items.find(({ outcome }) => outcome === "success") ?? items[0];
  if (newest === undefined)
    throw new UserError(
      `${source} has no event ${event_id} in the callback log: it may be past LOG_RETENTION_DAYS, or of another source`,
    );
  return client.callbacks.get(newest.id);
}

const MASKED_FORM =
  "in the callback log's copy of a form, a field with JSON that holds a secret is [masked] as a whole, so that no fixture can be " +
  "made of it";

/** @throws UserError where no callback with this body can be made here */
async function describeFixture(callback: CallbackView, options: FixtureOptions): Promise<Fixture> {
  const { body, timestamp: receivedAt } = callback;
  const [source, type, id] = [callback.source ?? "", callback.event_type ?? "", callback.event_id ?? ""];
  if (body === ERASED) throw new UserError(`no test can be made of ${id}: its payload was erased`);
  const note = parseJson(body);
  if (isJsonObject(note) && typeof note.sha256 === "string" && ("truncated" in note || "unparsed" in note))
    throw new UserError(`the callback log has no whole body of ${id}: it was too long, or neither JSON nor a form`);
  const name = sourceOf({ source });
  const shared = { source: name, type, id, receivedAt, masked: maskedIn(body) };
  if (name === PLATFORM) return { ...shared, isOfEnvironment: false };
  const { configuredSources, sourceUrl } = await import("../configured/index.ts");
  const { SampleError, signSample } = await import("../sources/index.ts");
  const { config } = await loadConfiguration(options, { listens: false });
  const configured = (await configuredSources(config)).find((one) => one.name === name);
  if (configured === undefined)
    throw new UserError(`the configuration of this folder has no source ${name}: run it in the folder of the receiver`);
  const url = new URL(sourceUrl(configured, config.baseUrl));
  const sample = { source: name, type, id, now: new Date(receivedAt), url, origin: url.origin };
  try {
    // Read as the source will read it: it may be one event of several that a callback brought.
    signSample(configured.definition, { ...sample, raw: Buffer.from(body), isRawEvent: true });
  } catch (cause) {
    if (!(cause instanceof SampleError)) throw cause;
    const isMaskedForm = shared.masked > 0 && note === undefined;
    throw new UserError(isMaskedForm ? `${cause.message}; ${MASKED_FORM}` : cause.message, { cause });
  }
  return { ...shared, isOfEnvironment: config.sources.presets.some((one) => one.name === name) };
}

/** JSON in base64 is masked inside. */
function maskedIn(body: string): number {
  const decoded = body.replace(/(?<=")(?:[\w+/-]|\\\/){24,}={0,2}(?=")/g, (text) =>
    Buffer.from(text, "base64").toString(),
  );
  return decoded.split("[masked]").length - 1;
}

const LONGEST_NAME = 100;

function fileName(text: string): string {
  return text.replace(/[^\w.-]+/g, "-").slice(0, LONGEST_NAME);
}

/** @returns what happened to each file @throws UserError for a file that holds something else, before any is written */
function writeAll(files: readonly (readonly [file: string, text: string])[]): string[] {
  const isThere = (file: string, text: string) => existsSync(file) && readFileSync(file, "utf8") === text;
  const taken = files.find(([file, text]) => existsSync(file) && !isThere(file, text));
  if (taken !== undefined)
    throw new UserError(`${taken[0]}: is there with another text, and is left as it is; move it, or name a --folder`);
  return files.map(([file, text]) => {
    if (isThere(file, text)) return `${file}: is there already, with the same text.`;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { flag: "wx" });
    return `${file}: written.`;
  });
}

async function configFile(test: string): Promise<string | undefined> {
  const { CONFIG_FILE_NAMES } = await import("./config-modules.ts");
  const file = CONFIG_FILE_NAMES.find((one) => existsSync(resolve(one)));
  return file && importPath(test, file);
}

function importPath(from: string, to: string): string {
  const path = relative(dirname(resolve(from)), resolve(to))
    .split(sep)
    .join("/");
  return path.startsWith(".") ? path : `./${path}`;
}
