import { randomUUID } from "node:crypto";
import { Command } from "commander";
import { isJsonObject, type JsonObject } from "../domain/index.ts";
import { authenticCallback } from "./callback-request.ts";
import { load } from "./load.ts";
import { sampleData } from "./sample-data.ts";
import { UserMistake } from "./user-mistake.ts";

interface SendOptions {
  readonly data?: string;
  readonly id?: string;
  readonly url?: string;
  readonly api?: string;
  readonly env?: string;
}

const TIME_LIMIT_MS = 35_000;

export function sendCommand(): Command {
  return new Command("send")
    .description(
      "Send a callback, signed as AUTH_METHOD says, and print the answer. Exit code 0 for an answer of 200.",
    )
    .argument("<type>", "the event type, such as payment_notify")
    .option("--data <json>", "the event's data as a JSON object (default: a sample for the built-in types)")
    .option("--id <event_id>", "the event's id (default: a new one); the same id again is a duplicate")
    .option("--url <url>", "where to (default: CALLBACK_BASE_URL followed by /api/platform/callback)")
    .option("--api <version>", "v1 or v2, sent as X-API-Version")
    .option("--env <file>", "read variables from a file as well; the environment wins")
    .action(send);
}

async function send(type: string, options: SendOptions): Promise<void> {
  const { config } = await load(options);
  const event = {
    event_id: options.id ?? `evt_${randomUUID()}`,
    event_type: type,
    timestamp: Math.floor(Date.now() / 1000),
    data: dataOf(type, options.data),
  };
  const { headers, body } = await authenticCallback(config, event, type);
  const url = options.url ?? `${config.baseUrl}/api/platform/callback`;
  const version = options.api === undefined ? {} : { "x-api-version": options.api };
  const response = await post(url, { ...headers, ...version }, body);
  process.stdout.write(`POST ${url}\n${body}\n\n${response.status}\n${await response.text()}\n`);
  if (response.status !== 200) process.exitCode = 1;
}

async function post(url: string, headers: Record<string, string>, body: string): Promise<Response> {
  const signal = AbortSignal.timeout(TIME_LIMIT_MS);
  try {
    return await fetch(url, { method: "POST", headers, body, redirect: "manual", signal });
  } catch (cause) {
    throw new UserMistake(`${url} did not answer: ${reason(cause)}. Is the receiver running (npm start)?`, {
      cause,
    });
  }
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

function dataOf(type: string, text: string | undefined): JsonObject {
  if (text === undefined) {
    const sample = sampleData(type);
    if (sample === undefined)
      throw new UserMistake(`--data: there is no sample for "${type}"; give its data as JSON`);
    return sample;
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new UserMistake(`--data: got ${JSON.stringify(text)}, expected a JSON object`, { cause });
  }
  if (!isJsonObject(value))
    throw new UserMistake(`--data: got ${JSON.stringify(text)}, expected a JSON object`);
  return value;
}
