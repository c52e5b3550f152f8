/** A handled event is not run again, since its handler drops stale events and a newer one has run. */
export class StaleReplay extends Error {
  override readonly name = "StaleReplay";
  override readonly message = "a newer event of its `orderBy` has run, and the handler drops stale events";
}
