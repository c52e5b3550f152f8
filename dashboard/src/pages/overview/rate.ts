/** Callbacks a second, from tallies of one stream. */
export class Rate {
  #received = 0;
  #before = 0;

  /**
   * The rate since the tally before; undefined with the first two, and where two are read at once. The first tally shows
   * that the stream is open. The second counts from an earlier time, since all subscribers get it at once.
   * @param nowMs in milliseconds
   */
  next(callbacks: number, nowMs: number): number | undefined {
    const sinceMs = nowMs - this.#before;
    this.#received += 1;
    this.#before = nowMs;
    return this.#received > 2 && sinceMs > 0 ? (callbacks / sinceMs) * 1_000 : undefined;
  }
}
