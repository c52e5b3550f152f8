/** Something the user can put right; the message says how, and no stack is shown. */
export class UserMistake extends Error {
  override readonly name: string = "UserMistake";
}

/** An option or argument that is not understood: nothing was begun, and the exit code is 2. */
export class UsageMistake extends UserMistake {
  override readonly name = "UsageMistake";
}
