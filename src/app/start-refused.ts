/** Something outside the configuration's own words, a database or a port, keeps the service from running; the message says what to do. */
export class StartRefused extends Error {
  override readonly name = "StartRefused";
}
