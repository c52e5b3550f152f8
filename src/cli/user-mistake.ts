/** Something the user can put right; the message says how, and no stack is shown. */
export class UserMistake extends Error {
  override readonly name = "UserMistake";
}
