import { styleText } from "node:util";
import { plainLines } from "../plain.ts";
import { deliver } from "./deliver.ts";
import { jsonFor, lineFor } from "./describe.ts";
import { followReceiver } from "./follow-receiver.ts";
import { stateFile } from "./state-file.ts";

export interface ListenOptions {
  readonly from: URL;
  readonly to: URL;
  readonly token: string;
  readonly sinceSeconds: number | undefined;
  readonly statePath: string | undefined;
  readonly isJson: boolean;
}

/** Delivers until a signal, one request after the other. @throws UserMistake */
export async function listen(options: ListenOptions): Promise<void> {
  const { from, to, statePath, isJson } = options;
  const state = statePath === undefined ? undefined : stateFile(statePath, from);
  const { stopping, abandoned } = hearSignals();
  let delivered = 0;
  let isDelivering = false;
  stopping.addEventListener("abort", () => {
    if (isDelivering) say("the delivery under way may end; Ctrl-C again does not wait for it");
  });
  const requests = followReceiver({
    ...options,
    place: state?.place,
    signal: stopping,
    say,
    began(place, isAgain) {
      state?.note(place);
      if (!isAgain) say(`listening to ${from.href}, for ${to.href}; Ctrl-C ends`);
    },
  });
  for await (const request of requests) {
    isDelivering = true;
    const answer = await deliver(request, { to, say, stopping, abandoned });
    isDelivering = false;
    if (answer === undefined) break;
    delivered += 1;
    state?.note(request.at);
    process.stdout.write(`${isJson ? jsonFor(request, answer) : lineFor(request, answer)}\n`);
  }
  say(`${delivered} delivered`);
}

/** On standard error, so that standard output holds the callbacks alone. */
function say(words: string): void {
  process.stderr.write(`${styleText("dim", `oncehook: ${plainLines(words)}`, { stream: process.stderr })}\n`);
}

/** The first signal lets the delivery under way end, so that it is noted; the second does not wait for it. */
function hearSignals(): { readonly stopping: AbortSignal; readonly abandoned: AbortSignal } {
  const stopping = new AbortController();
  const abandoned = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.on(name, () => (stopping.signal.aborted ? abandoned : stopping).abort());
  }
  return { stopping: stopping.signal, abandoned: abandoned.signal };
}
