import { AsyncResource } from "node:async_hooks";
import {
  type AttemptOutcome,
  failed,
  isRefused,
  keyText,
  type Outcome,
  refused,
  sourceOf,
  success,
} from "../domain/index.ts";
import type { SignedText } from "../sources/index.ts";
import type { StoredFailure } from "../store/index.ts";
import { BODY, type KeptRequest } from "./keep-rejected.ts";
import { processRead } from "./pipeline.ts";
import type { AttemptInput, Callback, CallbackResult, Receiver, Rerun } from "./receiver.ts";

/**
 * Reads a kept callback again, by the contract of today, and runs its events under their keys. It goes where each of them
 * is durable under its key, whatever became of it.
 */
export async function runUnread(
  failure: StoredFailure,
  body: Uint8Array,
  rerun: Rerun & Pick<AttemptInput, "version" | "deadline">,
  receiver: Receiver,
): Promise<AttemptOutcome> {
  const source = receiver.sourcesByName.get(sourceOf(failure));
  if (source === undefined)
    return failed("internal", new Error(`the source of ${keyText(failure)} is not configured any more`));
  const { signed, ...kept }: KeptRequest = JSON.parse(Buffer.from(body).toString());
  const signedText: SignedText = (text, hasTime) => String(signed?.[Number(hasTime)]).replaceAll(BODY, () => text);
  const { deliveryId = failure.eventId } = kept;
  const request = { ...kept, body: Buffer.from(kept.body, "base64"), deliveryId, receivedAt: rerun.keptAt };
  const read = source.contract.read(request, signed && signedText);
  if (isRefused(read)) return read;
  if (read.kind === "handshake") return success({});
  const results: CallbackResult[] = [];
  const outcome = await new Promise<Outcome>((resolve) => {
    const callback: Callback = {
      ...request,
      rawHeaders: rawHeadersOf(kept.headers),
      source: { ...source, answer: "inline" },
      version: rerun.version,
      startedAt: performance.now(),
      deadline: rerun.deadline,
      context: new AsyncResource("oncehook.replay"),
      buildLogEntry: () => undefined,
      settleItem: (result) => void results.push(result),
      settle(result) {
        if (read.kind === "event") results.push(result);
        resolve(result.outcome);
      },
    };
    processRead(callback, read, { rerun }, receiver);
  });
  if (read.kind === "batch" && read.invalid !== undefined) return read.invalid;
  if (rerun.mode === "commit" && (await areDurable(results, failure, receiver)))
    await receiver.store.failures.remove(failure);
  return attemptOutcome(outcome);
}

/** Those that were kept: the proofs of a callback are not among them. */
function rawHeadersOf(headers: KeptRequest["headers"]): string[] {
  return Object.entries(headers).flatMap(([name, values = []]) => values.flatMap((value) => [name, value]));
}

/** Whether each event has a record or a stored failure. */
async function areDurable(results: readonly CallbackResult[], failure: StoredFailure, { store }: Receiver) {
  for (const { outcome, source = failure.source, eventId, isCombined } of results) {
    // Each handler of several has ended by itself.
    if (isCombined || (outcome.kind !== "failed" && outcome.kind !== "rejected")) continue;
    if (eventId === undefined || eventId === failure.eventId) return false;
    if ((await store.failures.get({ source, eventId })) === undefined) return false;
  }
  return true;
}

function attemptOutcome(outcome: Outcome): AttemptOutcome {
  if (outcome.kind === "rejected") return refused(outcome.code, { message: outcome.message });
  return "code" in outcome || "result" in outcome ? outcome : success({});
}
