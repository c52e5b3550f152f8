import { describe, expect, it } from "vitest";
import { fill } from "../../scripts/measure/fill.ts";
import { createAdminClient } from "../../src/admin-client/index.ts";
import { DIALECTS } from "../support/databases.ts";
import { payment, type TestReceiver, withReceiver } from "../support/receiver.ts";
import { TOKEN } from "../support/secrets.ts";

const LIMIT_MS = 240_000;
const ROWS = 50_000;
const MOST_MS = 50;
/** Another process of the machine only adds to a round: the quickest one shows what the search costs. */
const ROUNDS = 5;

/** Searches the whole log for a text that is nowhere, while callbacks come one after the other. */
async function round(receiver: TestReceiver) {
  const { search } = createAdminClient({ origin: receiver.adminOrigin, token: TOKEN });
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
  let [longest, sent] = [0, 0];
  while (isSearching) {
    const startedAt = performance.now();
    expect((await receiver.send(payment())).status).toBe(200);
    longest = Math.max(longest, performance.now() - startedAt);
    sent += 1;
  }
  await searched;
  return { longest, sent };
}

describe.each(DIALECTS)("a search for a text that is nowhere on %s", (dialect) => {
  it(`no callback waits for more than ${MOST_MS} ms while the log is read`, { timeout: LIMIT_MS }, () =>
    withReceiver(dialect, async (receiver) => {
      await fill(receiver.target, ROWS);
      const rounds = [];
      for (let at = 0; at < ROUNDS; at += 1) rounds.push(await round(receiver));
      expect(Math.min(...rounds.map(({ sent }) => sent))).toBeGreaterThan(10);
      expect(Math.min(...rounds.map(({ longest }) => longest))).toBeLessThan(MOST_MS);
    }),
  );
});
