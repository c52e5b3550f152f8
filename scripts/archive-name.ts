/**
 * The name of a packed archive, with 12 hex digits of the SHA-512 of its bytes.
 * @param packed.integrity as `npm pack --json` writes it: `sha512-` and base64
 */
export function archiveName({ filename, integrity }: { filename: string; integrity: string }): string {
  const digest = Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex", 0, 6);
  return filename.replace(/\.tgz$/, `-${digest}.tgz`);
}
