/** A database or a port with which the service may not, or cannot, run; the message says what to do. */
export class StartRefused extends Error {
  override readonly name = "StartRefused";
}
