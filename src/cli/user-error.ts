/** Something the user can put right; the message says how, and no stack is shown. */
export class UserError extends Error {
  override readonly name: string = "UserError";
}

/** An option or argument that is not understood: nothing was started, and the exit code is 2. */
export class UsageError extends UserError {
  override readonly name = "UsageError";
}
