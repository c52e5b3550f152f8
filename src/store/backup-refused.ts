/** A backup or a restore that was not begun; the message says why, and what to do. */
export class BackupRefused extends Error {
  override readonly name = "BackupRefused";
}
