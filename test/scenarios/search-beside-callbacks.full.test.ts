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

/** Searches the whole log for a text that is nowhere, while callbacks come one after the other. */
async function searchBeside(receiver: TestReceiver) {
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
  const waits: number[] = [];
  while (isSearching) {
    const before = computedMs();
    expect((await receiver.send(payment())).status).toBe(200);
    waits.push(computedMs() - before);
  }
  await searched;
  return waits.toSorted((one, other) => other - one);
}

describe.each(DIALECTS)("a search for a text that is nowhere on %s", (dialect) => {
  it(
    `callbacks do not wait for more than ${MOST_MS} ms of computing while the log is read`,
    { timeout: LIMIT_MS },
    () =>
      withFilledReceiver(dialect, ROWS, async (receiver) => {
        await receiver.send(payment());
        const longestFirst = await searchBeside(receiver);
        expect(longestFirst.length).toBeGreaterThan(10);
        // Once or twice the collector looks at all garbage of the process, that of other tests among it.
        expect(longestFirst[2]).toBeLessThan(MOST_MS);
      }),
  );
});
