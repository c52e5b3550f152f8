/** Below the time after which Prometheus gives a scrape up (10 s by default), and operators a probe. */
const WITHIN_MS = 2_000;

/** Undefined when the work takes too long; it is not waited for any longer. */
export async function unlessSlow<T>(work: () => Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, WITHIN_MS, undefined).unref();
  });
  try {
    return await Promise.race([work(), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
