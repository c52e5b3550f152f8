import { Command, InvalidArgumentError } from "commander";
import {
  type AdminClient,
  type AdminClientOptions,
  AdminError,
  createAdminClient,
  type PageOf,
} from "../admin-client/index.ts";
import type { Config } from "../config/index.ts";
import { CONFIG_OPTION, ENV_OPTION, loadConfiguration } from "./load-configuration.ts";
import {
  type Given,
  JSON_OPTION,
  type JsonOptions,
  printResult,
  table,
  UTC_OPTION,
  type ZoneOptions,
} from "./output.ts";
import { UsageError, UserError } from "./user-error.ts";

export interface AdminOptions extends JsonOptions, Given<"env" | "config"> {
  readonly adminPort?: number;
}

/** Longer than the receiver waits for its database, so that it can report that. */
const TIME_LIMIT_MS = 15_000;

/** @param isApplication whether the database of an application was opened here: the application itself was not asked */
export type AskAdmin<Answer> = (client: AdminClient, isApplication: boolean) => Promise<Answer>;

/**
 * Asks the admin API of the running receiver and returns its answer. In the folder of an application it is asked in this
 * process, on the application's database.
 * @param limitOf how long the answer may take: some of them run a handler first
 * @throws UserError without an answer, or with one that is no success
 */
export async function callAdmin<Answer>(
  options: AdminOptions,
  ask: AskAdmin<Answer>,
  limitOf: (config: Config) => number | Promise<number> = () => TIME_LIMIT_MS,
): Promise<Answer> {
  const loaded = await loadConfiguration(options, { listens: false });
  const { config } = loaded;
  const timeLimitMs = await limitOf(config);
  if (loaded.isApplication) {
    const { withCommandAdmin } = await import("../app/index.ts");
    return withCommandAdmin(loaded, (admin) => askClient({ ...admin, timeLimitMs }, (client) => ask(client, true)));
  }
  const { host, port, token } = config.admin;
  const origin = `http://${host.includes(":") ? `[${host}]` : host}:${options.adminPort ?? port}`;
  return askClient({ origin, token: String(token), timeLimitMs }, (client) => ask(client, false));
}

type ClientOptions = AdminClientOptions & Required<Pick<AdminClientOptions, "origin" | "timeLimitMs">>;

async function askClient<Answer>(client: ClientOptions, ask: (client: AdminClient) => Promise<Answer>) {
  try {
    return await ask(createAdminClient(client));
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    // A bad request was an option that the receiver does not understand.
    const Mistake = cause instanceof AdminError && cause.status === 400 ? UsageError : UserError;
    throw new Mistake(adminErrorMessage(cause, client.origin, client.timeLimitMs), { cause });
  }
}

export async function printAnswer<Answer>(
  options: AdminOptions,
  ask: AskAdmin<Answer>,
  words: (answer: Answer) => string,
  limitOf?: Parameters<typeof callAdmin>[2],
): Promise<Answer> {
  const answer = await callAdmin(options, ask, limitOf);
  printResult(options, answer, () => words(answer));
  return answer;
}

function adminErrorMessage(cause: unknown, origin: string, timeLimitMs: number): string {
  if (cause instanceof AdminError) {
    if (cause.isOtherServer) return `${cause.message}; give its port with ADMIN_PORT or --admin-port`;
    const hint = cause.status === 401 ? " ADMIN_TOKEN here is another than the receiver's." : "";
    return `the receiver answered ${cause.status}: ${sentence(cause.message)}${hint}`;
  }
  if (cause instanceof Error && cause.name === "TimeoutError")
    return `${origin} has not answered within ${timeLimitMs / 1000} s; what was asked may still be done`;
  return `${origin} did not answer. Is the receiver running (npm start), with these variables?`;
}

/** The lists of the API that a message names have commands of these names. */
function sentence(message: string): string {
  const text = message.replaceAll(/GET \/api\/v1\/([a-z-]+)/g, "oncehook $1").replace(/[\s.:;,]+$/, "");
  return /[?!…]$/.test(text) ? text : `${text}.`;
}

export interface ListOptions extends AdminOptions, ZoneOptions, Given<"cursor"> {
  readonly limit: number;
}

export const MAX_LIMIT = 200;

/** Reads the value of an option, for Commander: it names the option and exits with 2. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`);
  };
}

/** The place at which a list continues, as the page before it printed it. */
export function parseCursor(text: string): string {
  if (/^[1-9]\d{0,15}(?:\.\d{1,15}){0,2}$/.test(text)) return text;
  throw new InvalidArgumentError("Expected what the page before it printed after --cursor.");
}

export function adminCommand(name: string): Command {
  return new Command(name)
    .option("--admin-port <port>", "of the admin listener (default: ADMIN_PORT)", wholeNumber(1, 65_535))
    .option(...ENV_OPTION)
    .option(...CONFIG_OPTION)
    .option(...JSON_OPTION);
}

export function listCommand(name: string): Command {
  return adminCommand(name)
    .option("--limit <count>", "how many, up to 200", wholeNumber(1, MAX_LIMIT), 20)
    .option("--cursor <cursor>", "the page after another, whose last line says this", parseCursor)
    .option(...UTC_OPTION);
}

export function printList(
  list: PageOf<unknown>,
  options: ListOptions,
  head: readonly string[],
  rows: readonly string[][],
  none: string,
): void {
  printResult(options, list, () => {
    const more = list.next_cursor === null ? "" : `older ones: --cursor ${list.next_cursor}\n`;
    return rows.length === 0 ? `${none}\n` : `${table(head, rows)}\n${more}`;
  });
}
