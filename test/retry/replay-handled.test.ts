import { describe, expect, it } from "vitest";
import { replayHandled } from "../../src/retry/index.ts";
import { type PendingEvent, type Store, StoreError } from "../../src/store/index.ts";
import { withStore } from "../support/databases.ts";
import { committing, newRecord } from "../support/effects.ts";
import { logRow } from "../support/log-row.ts";
import { runOnce } from "../support/once.ts";
import { originalsKeeper } from "../support/originals.ts";
import { rooms } from "../support/retry-rooms.ts";

const KEY = { source: "platform", eventId: "e1" };
const REPLAY = { replay: "r1", actor: "token", reason: "mended" };

/** Handles the event in its callback, with its original. */
async function handle(store: Store): Promise<void> {
  const json = { event_id: "e1", event_type: "unreliable", timestamp: 1, data: {} };
  const original = originalsKeeper().keep("e1", { body: Buffer.from(JSON.stringify(json)) });
  const completion = { result: { attempt: "inline" }, logEntry: logRow(), original };
  await runOnce(store, newRecord("e1", { eventType: "unreliable" }), async () => completion, committing());
}

/** A store whose commits happen, and whose answers are lost. */
function losingAnswers(store: Store, commits: boolean): Store {
  const lost = () => new StoreError("commit_unknown", "the answer to COMMIT was lost", undefined);
  return {
    ...store,
    submit(event: PendingEvent) {
      if (!commits) return event.fail(lost());
      store.submit({
        record: event.record,
        deadline: event.deadline,
        replaces: event.replaces,
        handle: (scope) => event.handle(scope),
        complete: (returned) => event.complete(returned),
        settle: () => event.fail(lost()),
        fail: (error) => event.fail(error),
      });
    },
  };
}

describe("the replay of a handled event whose commit's answer is lost", () => {
  it("a replay that was committed is a success, since its row is there", () =>
    withStore("sqlite", async (store) => {
      await handle(store);
      const { receiver } = rooms(losingAnswers(store, true), { times: 0 });
      expect(await replayHandled(KEY, REPLAY, receiver)).toMatchObject({
        kind: "ended",
        outcome: { kind: "success", result: { attempt: "replay" } },
        earlier: { result: { attempt: "inline" } },
      });
      expect(await store.eventReplays.list(KEY, 9)).toHaveLength(1);
    }));

  it("a replay that was not committed is unknown, and is run when it is asked for again", () =>
    withStore("sqlite", async (store) => {
      await handle(store);
      const lossy = rooms(losingAnswers(store, false), { times: 0 });
      expect(await replayHandled(KEY, REPLAY, lossy.receiver)).toMatchObject({
        outcome: { kind: "failed", code: "commit_unknown" },
      });
      const { receiver } = rooms(store, { times: 0 });
      expect(await replayHandled(KEY, REPLAY, receiver)).toMatchObject({ outcome: { kind: "success" } });
      expect(await replayHandled(KEY, REPLAY, receiver)).toMatchObject({ outcome: { kind: "already_processed" } });
      expect(await store.eventReplays.list(KEY, 9)).toHaveLength(1);
    }));
});
