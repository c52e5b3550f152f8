import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { searchCallbacks } from "../../src/admin/search/search-callbacks.ts";
import { createSearchQueue } from "../../src/admin/search/search-queue.ts";
import { parseSearchQuery } from "../../src/domain/index.ts";
import { withStore } from "../support/databases.ts";
import { withLock } from "../support/held-lock.ts";
import { logRow } from "../support/log-row.ts";
import { withReceiver } from "../support/receiver.ts";
import { TOKEN } from "../support/secrets.ts";
import { until } from "../support/until.ts";

const PRESENT = new AbortController().signal;

/** Searches that end when they are told to. */
function heldSearches() {
  const inTurn = createSearchQueue();
  const begun: number[] = [];
  const ends = new Map<number, () => void>();
  return {
    begun,
    ask: (name: number, gone: AbortSignal = PRESENT) =>
      inTurn(gone, () => {
        begun.push(name);
        return new Promise<number>((resolve) => ends.set(name, () => resolve(name)));
      }),
    end: (name: number) => ends.get(name)?.(),
  };
}

describe("searches of one process", () => {
  it("two searches run at once, 32 wait in order of arrival, and a further one gets 503 with what to do", async () => {
    const { begun, ask, end } = heldSearches();
    const asked = Array.from({ length: 34 }, (_, name) => ask(name));
    await nextTurn();
    expect(begun).toEqual([0, 1]);
    await expect(ask(34)).rejects.toMatchObject({
      statusCode: 503,
      headers: { "retry-after": "5" },
      message: expect.stringMatching(/^2 searches run on this process and 32 wait; try again in some seconds/),
    });
    for (let name = 0; name < 34; name += 1) {
      end(name);
      expect(await asked[name]).toBe(name);
      await nextTurn();
    }
    expect(begun).toEqual(Array.from({ length: 34 }, (_, name) => name));
  });

  it("a search whose client has disconnected leaves the queue, and one that fails gives its place to the next", async () => {
    const { begun, ask, end } = heldSearches();
    const client = new AbortController();
    const [first, _second, third, fourth] = [ask(0), ask(1), ask(2, client.signal), ask(3)];
    await nextTurn();
    client.abort();
    await expect(third).rejects.toThrow("the client disconnected before its search began");
    end(0);
    await first;
    await nextTurn();
    expect(begun).toEqual([0, 1, 3]);
    end(3);
    await fourth;
    const inTurn = createSearchQueue();
    const failing = Array.from({ length: 3 }, () => inTurn(PRESENT, () => Promise.reject(new Error("no database"))));
    expect((await Promise.allSettled(failing)).map(({ status }) => status)).toEqual(Array(3).fill("rejected"));
    expect(await inTurn(PRESENT, async () => "runs")).toBe("runs");
  });

  it("the admin API answers the search that is too many with 503, until waiting clients disconnect", () =>
    withReceiver("postgres", async (receiver) => {
      const headers = { authorization: `Bearer ${TOKEN}` };
      const ask = (signal: AbortSignal) => fetch(`${receiver.adminOrigin}/api/v1/search?q=a`, { headers, signal });
      const clients = new AbortController();
      const lock = "LOCK TABLE oncehook_callbacks IN ACCESS EXCLUSIVE MODE";
      let later: Promise<Response> | undefined;
      await withLock(receiver.target, lock, async () => {
        const asked = Array.from({ length: 35 }, () => ask(clients.signal));
        const refused = await Promise.race(asked);
        expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
        expect(await refused.json()).toEqual({ error: expect.stringMatching(/try again in some seconds/) });
        clients.abort();
        await Promise.allSettled(asked);
        await until(async () => {
          later = ask(PRESENT);
          return (await Promise.race([later, sleep(500, "waits")])) === "waits";
        });
      });
      expect((await later)?.status).toBe(200);
    }));

  it("a search among long bodies gives way between rows: no turn of the event loop takes a third of its work", () =>
    withStore("sqlite", async (store) => {
      const lines = Array.from({ length: 700 }, (_, n) => ({ sku: `sku-${n}`, title: `title of the article ${n}` }));
      const requestBody = JSON.stringify({ lines, currency: "usd" });
      await store.appendCallbacks(
        Array.from({ length: 50 }, (_, n) => logRow({ requestId: `request-${n}`, requestBody })),
      );
      const turns: number[] = [];
      let [isOver, before] = [false, process.cpuUsage()];
      const turn = () => {
        const { user, system } = process.cpuUsage(before);
        before = process.cpuUsage();
        turns.push(user + system);
        if (!isOver) setImmediate(turn);
      };
      setImmediate(turn);
      const query = parseSearchQuery("title article usd sku of", new Date());
      const { found } = await searchCallbacks(store, { query, limit: 50, budgetMs: 1_000 });
      isOver = true;
      expect(found).toHaveLength(50);
      expect(Math.max(...turns)).toBeLessThan(turns.reduce((sum, one) => sum + one) / 3);
    }));
});
