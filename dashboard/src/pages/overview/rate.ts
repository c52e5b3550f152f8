/** Callbacks a second, from tallies of one stream. */
export class Rate {
  #received = 0;
  #before = 0;

  /**
   * The rate since the tally before; undefined with the first two. The first says that the stream is open; the second counts from
   * before that, since all subscribers get it at the same time.
   * @param at in milliseconds
   */
  next(callbacks: number, at: number): number | undefined {
    const since = at - this.#before;
    this.#received += 1;
    this.#before = at;
    return this.#received > 2 ? (callbacks / since) * 1_000 : undefined;
  }
}
