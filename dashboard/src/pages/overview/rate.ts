/** Callbacks a second, from tallies of one stream. */
export class Rate {
  #heard = 0;
  #before = 0;

  /**
   * The rate since the tally before; undefined with the first two. The first says that the stream is open; the second counts from
   * before that, since it is told at the same time to all who listen.
   * @param at in milliseconds
   */
  next(callbacks: number, at: number): number | undefined {
    const since = at - this.#before;
    this.#heard += 1;
    this.#before = at;
    return this.#heard > 2 ? (callbacks / since) * 1_000 : undefined;
  }
}
