export {
  createEncryptor,
  DecryptionError,
  EncryptionKeyMissing,
  type Encryptor,
  encryptionKeyId,
} from "./encryptor.ts";
