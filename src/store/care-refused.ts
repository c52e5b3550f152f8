/** A look at a database, a backup or a restore that was not done; the message says why, and what to do. Nothing was changed. */
export class CareRefused extends Error {
  override readonly name = "CareRefused";
}
