/** Random numbers from 0 to 1 that repeat with their seed (mulberry32). */
export function createChance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A Poisson number: how many independent callbacks arrive where `mean` are expected. */
export function poisson(mean: number, chance: () => number): number {
  if (mean > 50) {
    const normal = Math.sqrt(-2 * Math.log(1 - chance())) * Math.cos(2 * Math.PI * chance());
    return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal));
  }
  const limit = Math.exp(-mean);
  let product = chance();
  let count = 0;
  while (product > limit) {
    product *= chance();
    count += 1;
  }
  return count;
}
