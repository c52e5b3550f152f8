import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { styleText } from "node:util";
import { z } from "zod";
import {
  type CapturedRequest,
  type Delivered,
  Disconnected,
  deliver,
  followReceiver,
} from "../dev/listen/index.ts";
import { fileErrorText, isJsonObject, parseJson } from "../domain/index.ts";
import { coloredStatus, escapedJson, escapeLines, eventColumns, timeOfDay } from "./output.ts";
import { UserError } from "./user-error.ts";

export interface ListenOptions {
  readonly from: URL;
  readonly to: URL;
  readonly token: string;
  readonly sinceSeconds: number | undefined;
  readonly statePath: string | undefined;
  readonly isJson: boolean;
}

/** Delivers until a signal, one request after the other. @throws UserError */
export async function listen(options: ListenOptions): Promise<void> {
  try {
    await forwardAll(options);
  } catch (error) {
    throw error instanceof Disconnected ? new UserError(error.message, { cause: error }) : error;
  }
}

async function forwardAll(options: ListenOptions): Promise<void> {
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
    process.stdout.write(`${isJson ? callbackJson(request, answer) : callbackLine(request, answer)}\n`);
  }
  log(`${delivered} delivered`);
}

/** On standard error, so that standard output holds the callbacks alone. */
function log(words: string): void {
  process.stderr.write(
    `${styleText("dim", `oncehook: ${escapeLines(words)}`, { stream: process.stderr })}\n`,
  );
}

/** The first signal lets the delivery under way end, so that it is noted; the second does not wait for it. */
function onSignals(): { readonly stopping: AbortSignal; readonly abandoned: AbortSignal } {
  const stopping = new AbortController();
  const abandoned = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.on(name, () => (stopping.signal.aborted ? abandoned : stopping).abort());
  }
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
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new UserError(`--state: got "${path}", which ${fileErrorText(cause)}`, { cause });
  }
  const state = STATE_SCHEMA.safeParse(parseJson(text));
  if (!state.success)
    throw new UserError(`--state: "${path}" is not what this command writes; name another file`);
  if (state.data.from === from) return state.data.place;
  throw new UserError(`--state: "${path}" is of ${state.data.from}, not of --from; name another file`);
}

/** Type and id of the event, unverified: the type from the header, else from the body. */
function describeRequest({ headers, body }: CapturedRequest) {
  const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === "x-event-type");
  const event = parseJson(Buffer.from(body, "base64").toString());
  const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : null);
  const { event_type, event_id } = isJsonObject(event) ? event : {};
  return {
    eventType: text(headers[at + 1] && at !== -1 ? headers[at + 1] : event_type),
    eventId: text(event_id),
  };
}

export function callbackLine(request: CapturedRequest, { status, durationMs }: Delivered): string {
  const { eventType, eventId } = describeRequest(request);
  const what = eventColumns(eventType, eventId).join("  ");
  return `${timeOfDay(request.received_at)}  ${what}  ${coloredStatus(status)}  ${Math.round(durationMs)} ms`;
}

function callbackJson(request: CapturedRequest, { status, durationMs }: Delivered): string {
  const { eventType, eventId } = describeRequest(request);
  return escapedJson({
    received_at: request.received_at,
    event_type: eventType,
    event_id: eventId,
    method: request.method,
    url: request.url,
    status,
    duration_ms: Math.round(durationMs * 10) / 10,
  });
}
