import type { Config } from "../config/index.ts";
import { keyIdOf } from "../seal/index.ts";
import type { KeyStamp } from "../store/index.ts";

/** The configured encryption keys, as a database remembers the one it was last used with. */
export function keyStamp({ encryptionKey, previousEncryptionKeys }: Config): KeyStamp {
  return { current: keyIdOf(encryptionKey), previous: previousEncryptionKeys.map(keyIdOf) };
}
