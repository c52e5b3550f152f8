/** A fifth of the time at most goes into renders that are asked for together. */
const REST_FACTOR = 4;
const LONGEST_REST_MS = 250;

/**
 * One render at a time; after one that was shared, a rest in proportion. All who ask meanwhile share the next one: it begins after
 * they asked, so that none gets an older state.
 */
export function sharedRender<T>(render: () => Promise<T>): () => Promise<T> {
  let next: Promise<T> | undefined;
  let asked = 0;
  let isFreeAt: Promise<unknown> = Promise.resolve();

  async function run(): Promise<T> {
    await isFreeAt;
    next = undefined;
    const isShared = asked > 1;
    asked = 0;
    const startedAt = performance.now();
    const rendered = render();
    isFreeAt = rendered.then(rest, rest);
    return rendered;

    function rest(): Promise<void> | undefined {
      if (!isShared) return undefined;
      const ms = Math.min(LONGEST_REST_MS, REST_FACTOR * (performance.now() - startedAt));
      return new Promise((resolve) => void setTimeout(resolve, ms).unref());
    }
  }

  return () => {
    asked += 1;
    next ??= run();
    return next;
  };
}
