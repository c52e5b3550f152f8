/** A database that this process may not use as it is configured; the message says what to do. */
export class MigrationRefused extends Error {
  override readonly name = "MigrationRefused";
}
