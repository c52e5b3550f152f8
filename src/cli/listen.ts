import { existsSync, renameSync, writeFileSync } from "node:fs";
import { styleText } from "node:util";
import { z } from "zod";
import { isLoopbackHost, savedAdminToken } from "../config/index.ts";
import type { CapturedRequest, Delivered } from "../dev/listen/index.ts";
import { DAY_MS, isJsonObject, parseJson } from "../domain/index.ts";
import { loadEnvFile } from "./load-configuration.ts";
import {
  coloredStatus,
  escapedJson,
  escapeLines,
  eventColumns,
  type Given,
  type JsonOptions,
  timeOfDay,
} from "./output.ts";
import { httpUrl, readInput, timeSpan, UserError, unexpected } from "./user-error.ts";

export type ListenOptions = JsonOptions & Given<"since" | "state" | "env"> & Readonly<Record<"from" | "to", string>>;

async function optionsOf({ from, to, since, state, json, env }: ListenOptions) {
  if (env !== undefined) loadEnvFile(env);
  const receiver = httpUrl("--from", from, "https://dev.example.com");
  if (receiver.protocol === "http:" && !isLoopbackHost(receiver.hostname)) {
    const expected = "an https address: ADMIN_TOKEN and the callbacks would cross the network in clear";
    throw unexpected("--from", from, expected);
  }
  return {
    from: receiver,
    to: httpUrl("--to", to, "http://localhost:3000/hook"),
    sinceSeconds: since === undefined ? undefined : Math.floor(timeSpan("--since", since, SINCE, DAY_MS) / 1_000),
    statePath: state,
    isJson: json === true,
    token: await tokenOf(receiver),
  };
}

async function tokenOf({ hostname }: URL): Promise<string> {
  // A generated token opens a receiver only of this machine, and is not sent to another one.
  const generated = () => (isLoopbackHost(hostname) ? savedAdminToken(process.env, process.cwd()) : undefined);
  const token = process.env.ADMIN_TOKEN?.trim() || (await generated());
  if (token === undefined)
    throw new UserError("ADMIN_TOKEN: is not set; set it to the receiver's, in the environment or with --env");
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new UserError("ADMIN_TOKEN: expected printable characters without spaces");
}

const SINCE = "up to 24h, such as 30s, 10m or 2h";

export async function listen(given: ListenOptions): Promise<void> {
  const options = await optionsOf(given);
  // Loaded on demand, to keep the start of other commands fast.
  const { deliver, followReceiver } = await import("../dev/listen/index.ts");
  const { from, to, statePath, isJson } = options;
  const state = statePath === undefined ? undefined : stateFile(statePath, from);
  const { stopping, abandoned } = onSignals();
  let delivered = 0;
  let isDelivering = false;
  stopping.addEventListener("abort", () => {
    if (isDelivering) log("finishing the current delivery; Ctrl-C again aborts it");
  });
  const requests = followReceiver({
    ...options,
    position: state?.position,
    signal: stopping,
    log,
    onConnected(place, isAgain) {
      state?.write(place);
      if (!isAgain) log(`listening to ${from.href}, for ${to.href}; Ctrl-C ends`);
    },
  });
  for await (const request of requests) {
    isDelivering = true;
    const answer = await deliver(request, { to, log, stopping, abandoned });
    isDelivering = false;
    if (answer === undefined) break;
    delivered += 1;
    state?.write(request.at);
    process.stdout.write(`${isJson ? escapedJson(deliveryFields(request, answer)) : callbackLine(request, answer)}\n`);
  }
  log(`${delivered} delivered`);
}

/** On standard error, so that standard output holds only the callbacks. */
function log(words: string): void {
  process.stderr.write(`${styleText("dim", `oncehook: ${escapeLines(words)}`, { stream: process.stderr })}\n`);
}

/** The first signal lets the delivery under way end, so that it is noted. The second does not wait for it. */
function onSignals() {
  const stopping = new AbortController();
  const abandoned = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const)
    process.on(name, () => (stopping.signal.aborted ? abandoned : stopping).abort());
  return { stopping: stopping.signal, abandoned: abandoned.signal };
}

const STATE_SCHEMA = z.object({ from: z.string(), place: z.string() });

function stateFile(path: string, from: URL) {
  return {
    position: read(path, from.href),
    write(place: string): void {
      // Whole or not at all, also when this process is killed meanwhile.
      const written = `${path}.${process.pid}`;
      try {
        writeFileSync(written, `${JSON.stringify({ from: from.href, place })}\n`, { mode: 0o600 });
        renameSync(written, path);
      } catch (cause) {
        throw new UserError(`--state: "${path}" cannot be written: ${(cause as Error).message}`, { cause });
      }
    },
  };
}

function read(path: string, from: string): string | undefined {
  if (!existsSync(path)) return undefined;
  const text = readInput(path, `--state: got "${path}", which`).toString();
  const state = STATE_SCHEMA.safeParse(parseJson(text));
  if (!state.success) throw new UserError(`--state: "${path}" is not what this command writes; name another file`);
  if (state.data.from === from) return state.data.place;
  throw new UserError(`--state: "${path}" is of ${state.data.from}, not of --from; name another file`);
}

/** Type and id of the event are unverified: the type from the header, else from the body. */
function deliveryFields(request: CapturedRequest, { status, durationMs }: Delivered) {
  const { received_at, headers, body, method, url } = request;
  const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === "x-event-type");
  const event = parseJson(Buffer.from(body, "base64").toString());
  const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : null);
  const { event_type, event_id } = isJsonObject(event) ? event : {};
  return {
    received_at,
    event_type: text(headers[at + 1] && at !== -1 ? headers[at + 1] : event_type),
    event_id: text(event_id),
    method,
    url,
    status,
    duration_ms: Math.round(durationMs * 10) / 10,
  };
}

export function callbackLine(request: CapturedRequest, answer: Delivered): string {
  const { received_at, event_type, event_id, status, duration_ms } = deliveryFields(request, answer);
  const what = eventColumns(event_type, event_id).join("  ");
  return `${timeOfDay(received_at)}  ${what}  ${coloredStatus(status)}  ${Math.round(duration_ms)} ms`;
}
