import { hash } from "node:crypto";

/** The fingerprint of a body, lowercase hex. */
export function sha256Hex(bytes: Uint8Array): string {
  return hash("sha256", bytes, "hex");
}
