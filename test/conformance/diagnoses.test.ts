import { describe, expect, it } from "vitest";
import { diagnosisOf } from "../../src/domain/index.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { committing, newRecord } from "../support/effects.ts";
import { listCallbacks } from "../support/list-callbacks.ts";
import { logRow } from "../support/log-row.ts";
import { runOnce } from "../support/once.ts";

const PREFIX = diagnosisOf([{ code: "prefix", message: "`sha256=` precedes the signature." }], true);

describe.each(DIALECTS)("a row of the log on %s", (dialect) => {
  it("a log entry keeps its diagnosis, beside entries without one, in their order", () =>
    withStore(dialect, async (store) => {
      await store.appendCallbacks([
        logRow({ requestId: "first" }),
        logRow({ requestId: "refused", outcome: "signature_malformed", diagnosis: PREFIX }),
        logRow({ requestId: "last" }),
      ]);
      const rows = await listCallbacks(store, { limit: 9 });
      expect(rows.map(({ requestId, diagnosis }) => [requestId, diagnosis])).toEqual([
        ["last", undefined],
        ["refused", PREFIX],
        ["first", undefined],
      ]);
    }));

  it("the log entry of a handled event has no diagnosis", () =>
    withStore(dialect, async (store) => {
      const row = logRow({ eventId: "e1" });
      await runOnce(store, newRecord("e1"), async () => ({ result: {}, logEntry: row }), committing());
      expect((await listCallbacks(store, { limit: 9 }, { eventId: "e1" }))[0]).not.toHaveProperty("diagnosis");
    }));
});
