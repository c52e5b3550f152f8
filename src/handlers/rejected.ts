const BRAND = Symbol.for("oncehook.Rejected");

/**
 * Thrown by a handler when the event itself is wrong: answered 400 with this message, rolled back, not retried.
 * The message goes to the caller, so it must not say more than the platform may know.
 */
export class Rejected extends Error {
  override readonly name = "Rejected";
  readonly [BRAND] = true;
}

/** By brand, since a user's handler may bring its own copy of this package. */
export function isRejected(error: unknown): error is Rejected {
  return error instanceof Error && BRAND in error;
}
