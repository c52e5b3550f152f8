import { createCipheriv, createDecipheriv, createHash, createSecretKey, hkdfSync, randomFillSync } from "node:crypto";

const ALGORITHM = "aes-256-gcm";
const VERSION = 1;
const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** A draw costs as much for one nonce as for hundreds. */
const NONCES_A_DRAW = 256;
const HEAD_BYTES = 1 + KEY_ID_BYTES + NONCE_BYTES;

const OTHER_KEY = "sealed with another ENCRYPTION_KEY; set the one that was in use then as ENCRYPTION_KEY_PREVIOUS";

export type Encryptor = ReturnType<typeof createEncryptor>;

export class DecryptionError extends Error {
  override readonly name: string = "DecryptionError";
}

/** No configured key encrypted it. The right one would decrypt it, so that a retry may succeed later. */
export class EncryptionKeyMissing extends DecryptionError {
  override readonly name = "EncryptionKeyMissing";
}

/**
 * Encrypts secrets and bodies in the database: AES-256-GCM (NIST SP 800-38D) with a random nonce. Layout: version, 4 bytes
 * of key id, 12 bytes of nonce, ciphertext, 16 bytes of tag. HKDF (RFC 5869) derives the used key from each given one.
 * @param key 32 bytes, which encrypts from now on
 * @param previous keys that only decrypt
 */
export function createEncryptor(key: Uint8Array, previous: readonly Uint8Array[] = []) {
  const current = derive(key);
  const keys = [current, ...previous.map(derive)];
  const nextNonce = createNonces();
  return {
    /** @param context such as a table and a key; `decrypt` needs the same, so that no value can be moved */
    encrypt(plain: Uint8Array, context: string): Uint8Array {
      const nonce = nextNonce();
      const cipher = createCipheriv(ALGORITHM, current.secret, nonce).setAAD(Buffer.from(context));
      const encrypted = Buffer.allocUnsafe(HEAD_BYTES + plain.length + TAG_BYTES);
      encrypted[0] = VERSION;
      encrypted.set(current.id, 1);
      encrypted.set(nonce, 1 + KEY_ID_BYTES);
      encrypted.set(cipher.update(plain), HEAD_BYTES);
      // GCM has no block that is left over.
      cipher.final();
      encrypted.set(cipher.getAuthTag(), HEAD_BYTES + plain.length);
      return encrypted;
    },
    /** Whether the current key encrypted it, not a previous one. */
    // biome-ignore lint/plugin: a key's id stands in clear in what it encrypted.
    isCurrent: (encrypted: Uint8Array): boolean => current.id.equals(encrypted.subarray(1, 1 + KEY_ID_BYTES)),
    /** @throws DecryptionError where the context or the bytes differ; EncryptionKeyMissing without its key */
    decrypt(encrypted: Uint8Array, context: string): Uint8Array {
      const bytes = Buffer.from(encrypted);
      if (bytes.length < HEAD_BYTES + TAG_BYTES || bytes[0] !== VERSION)
        throw new DecryptionError("this is not a sealed value of this service");
      const id = bytes.subarray(1, 1 + KEY_ID_BYTES);
      // biome-ignore lint/plugin: a key's id stands in clear in what it encrypted.
      const under = keys.find((candidate) => candidate.id.equals(id));
      if (under === undefined) throw new EncryptionKeyMissing(OTHER_KEY);
      const nonce = bytes.subarray(1 + KEY_ID_BYTES, HEAD_BYTES);
      const decipher = createDecipheriv(ALGORITHM, under.secret, nonce).setAAD(Buffer.from(context));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        return Buffer.concat([decipher.update(bytes.subarray(HEAD_BYTES, -TAG_BYTES)), decipher.final()]);
      } catch (cause) {
        throw new DecryptionError("the sealed value was changed, or belongs to another row", { cause });
      }
    },
  };
}

/** Each is used once: it is overwritten by the next draw, after all of them were taken. */
function createNonces(): () => Uint8Array {
  const drawn = new Uint8Array(NONCES_A_DRAW * NONCE_BYTES);
  let at = drawn.length;
  return () => {
    if (at === drawn.length) {
      randomFillSync(drawn);
      at = 0;
    }
    at += NONCE_BYTES;
    return drawn.subarray(at - NONCE_BYTES, at);
  };
}

/** Tells keys apart. It is no secret: every encrypted value contains its key's id. */
export function encryptionKeyId(key: Uint8Array): string {
  return derive(key).id.toString("hex");
}

function derive(key: Uint8Array) {
  const bytes = Buffer.from(hkdfSync("sha256", key, new Uint8Array(), "oncehook/seal/v1", 32));
  return {
    /** Made once: Node takes four times as long to encrypt with the bytes themselves. */
    secret: createSecretKey(bytes),
    id: createHash("sha256").update(bytes).digest().subarray(0, KEY_ID_BYTES),
  };
}
