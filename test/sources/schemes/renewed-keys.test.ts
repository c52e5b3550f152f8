import { expect, it } from "vitest";
import type { HeldBody } from "../../../src/sources/request.ts";
import { FetchedKeys } from "../../../src/sources/schemes/fetched-keys.ts";

const MOST = 40;
const WINDOW_MS = 10_000;
const IDS = Array.from({ length: 100 }, (_, at) => `tenant-${at}`);
const from = (address: string): HeldBody => ({ address, mayWait: () => true });
const outcome = (asked: Promise<unknown>) =>
  asked.then(
    () => "decided",
    (error: Error) => error.name,
  );

/** Keys that are all known, and how often they were asked for since. */
async function known(isProven: readonly string[] = []) {
  let now = 0;
  let fetches = 0;
  const fetch = async () => {
    fetches += 1;
    return {};
  };
  const options = {
    name: "the tenants",
    mostFetches: MOST,
    windowMs: WINDOW_MS,
    mostKnown: 200,
    now: () => now,
  };
  const keys = new FetchedKeys(fetch, options);
  for (const [at, id] of IDS.entries()) {
    if (at % 10 === 0) now += WINDOW_MS;
    await keys.get(id, from("a start"));
  }
  const pass = (ms: number) => {
    now += ms;
  };
  pass(WINDOW_MS);
  fetches = 0;
  for (const address of isProven) keys.trust(from(address));
  return { keys, pass, fetches: () => fetches };
}

it("wrong signatures of one address for known tenants cause a quarter of the look-ups, and are undecided past it", async () => {
  const { keys, fetches } = await known();
  const results = await Promise.all(IDS.map((id) => outcome(keys.renewed(id, from("a forger")))));
  expect(fetches()).toBe(MOST / 4);
  expect(results.filter((one) => one === "decided")).toHaveLength(MOST / 4);
  expect(results.filter((one) => one === "KeysUnavailable")).toHaveLength(IDS.length - MOST / 4);
  expect(await outcome(keys.renewed("tenant-99", from("the platform")))).toBe("decided");
});

it("wrong signatures and made-up tenants of all forgers share one bound, within which a window passes", async () => {
  const { keys, pass, fetches } = await known();
  for (let round = 0; round < 10; round += 1)
    await Promise.all(
      IDS.map((id, at) => outcome(keys.renewed(at % 2 ? id : `made-up-${round}-${at}`, from(`forger ${at % 20}`)))),
    );
  expect(fetches()).toBe(MOST);
  pass(WINDOW_MS + 1);
  expect(await outcome(keys.renewed("tenant-1", from("forger 1")))).toBe("decided");
});

it("forgers do not use up the look-ups of an address that has sent an authentic callback", async () => {
  const { keys } = await known(["the platform"]);
  await Promise.all(IDS.map((id, at) => outcome(keys.renewed(id, from(`forger ${at % 50}`)))));
  expect(await outcome(keys.renewed("tenant-99", from("another platform")))).toBe("KeysUnavailable");
  expect(await outcome(keys.renewed("tenant-99", from("the platform")))).toBe("decided");
  expect(await outcome(keys.get("a new tenant", from("the platform")))).toBe("decided");
});

it("known secrets verify all the while, and are asked for again within the bound once they are old", async () => {
  const { keys, pass, fetches } = await known();
  pass(11 * 60_000);
  const results = await Promise.all(IDS.map((id) => outcome(keys.get(id, from("a forger")))));
  expect(results).toEqual(IDS.map(() => "decided"));
  expect(fetches()).toBe(MOST / 4);
});
