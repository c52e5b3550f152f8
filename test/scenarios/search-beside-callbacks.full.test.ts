import { describe, expect, it } from "vitest";
import { createAdminClient } from "../../src/admin-client/index.ts";
import { DIALECTS } from "../support/databases.ts";
import { withFilledReceiver } from "../support/filled-receiver.ts";
import { payment, type TestReceiver } from "../support/receiver.ts";
import { TOKEN } from "../support/secrets.ts";

const LIMIT_MS = 240_000;
const ROWS = 50_000;
const MOST_MS = 50;

/** How long this thread has computed so far, in milliseconds: other processes of the machine do not count. */
function computedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Notes the longest turn of this thread's loop, in milliseconds of computing: whoever calls waits for one to end. */
function watchTurns() {
  let [before, longest, isOver] = [computedMs(), 0, false];
  const turn = () => {
    const now = computedMs();
    longest = Math.max(longest, now - before);
    before = now;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    end(): number {
      isOver = true;
      return longest;
    },
  };
}

/** Searches the whole log for a text that is nowhere, while callbacks come one after the other. */
async function searchBeside(receiver: TestReceiver) {
  const { search } = createAdminClient({ origin: receiver.adminOrigin, token: TOKEN });
  // The first page compiles the search, in this thread.
  await search.find({ q: "nowhere at all" });
  let isSearching = true;
  const searched = (async () => {
    for (let cursor: string | undefined; ; ) {
      const page = await search.find({ q: "nowhere at all", cursor });
      expect(page.items).toEqual([]);
      if (page.next_cursor === null) break;
      cursor = page.next_cursor;
    }
  })().finally(() => {
    isSearching = false;
  });
  const turns = watchTurns();
  const computed: number[] = [];
  while (isSearching) {
    const before = computedMs();
    expect((await receiver.send(payment())).status).toBe(200);
    computed.push(computedMs() - before);
  }
  const longestTurn = turns.end();
  await searched;
  // A busy disk lets the search go on beside a callback: some have more beside them than they wait for.
  const usual = computed.toSorted((one, other) => one - other)[Math.floor(computed.length / 2)];
  return { longestTurn, usual, sent: computed.length };
}

describe.each(DIALECTS)("a search for a text that is nowhere on %s", (dialect) => {
  it(`no callback waits for more than ${MOST_MS} ms of computing while the log is read`, { timeout: LIMIT_MS }, () =>
    withFilledReceiver(dialect, ROWS, async (receiver) => {
      await receiver.send(payment());
      const { sent, longestTurn, usual } = await searchBeside(receiver);
      expect(sent).toBeGreaterThan(10);
      expect(longestTurn).toBeLessThan(MOST_MS);
      expect(usual).toBeLessThan(MOST_MS);
    }),
  );
});
