import { connectStore } from "../../src/app/open-store.ts";
import type { Store } from "../../src/store/index.ts";
import { systemClock } from "../../src/system/index.ts";
import type { Target } from "./open-target.ts";
import { testConfig } from "./receiver.ts";

/** Lends the store of a receiver that serves, as another process of its would open it. */
export async function withStoreBeside<T>(target: Target, use: (store: Store) => Promise<T>): Promise<T> {
  const { store } = await connectStore(testConfig(target), [], systemClock);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}
