import type { Encryptor } from "../../encryption/index.ts";
import type { CapturedRequest, NewCapturedRequest } from "../../store/index.ts";

export interface CapturePosition {
  readonly log: string;
  readonly id: number;
}

export function formatPosition({ log, id }: CapturePosition): string {
  return `${log}.${id}`;
}

/** Undefined where the text is no place. */
export function parsePosition(text: string): CapturePosition | undefined {
  const [, log, id] = /^([0-9a-f]{16})\.(\d{1,15})$/.exec(text) ?? [];
  return log === undefined ? undefined : { log, id: Number(id) };
}

export interface RawCallback {
  readonly requestId: string;
  readonly receivedAt: Date;
  readonly method: string;
  /** The request target as it was sent: the path, and the query where there is one. */
  readonly url: string;
  /** Names and values in turn, as they were sent, repeated ones too; each character is one byte. */
  readonly rawHeaders: readonly string[];
  readonly body: Uint8Array;
}

const LINE_FEED = 10;

/** One JSON line, and then the body's bytes as they are. */
export function encryptCapture(request: RawCallback, encryptor: Encryptor): NewCapturedRequest {
  const { requestId, receivedAt, method, url, rawHeaders, body } = request;
  const head = Buffer.from(`${JSON.stringify({ method, url, rawHeaders })}\n`);
  return {
    requestId,
    receivedAt,
    encrypted: encryptor.encrypt(Buffer.concat([head, body]), contextOf(requestId)),
  };
}

/** @throws DecryptionError; EncryptionKeyMissing where the key that sealed it is not configured any more */
export function decryptCapture(
  { requestId, receivedAt, encrypted }: CapturedRequest,
  encryptor: Encryptor,
): RawCallback {
  const plain = Buffer.from(encryptor.decrypt(encrypted, contextOf(requestId)));
  const end = plain.indexOf(LINE_FEED);
  const head = JSON.parse(plain.toString("utf8", 0, end)) as Pick<
    RawCallback,
    "method" | "url" | "rawHeaders"
  >;
  return { ...head, requestId, receivedAt: new Date(receivedAt), body: plain.subarray(end + 1) };
}

function contextOf(requestId: string): string {
  return `capture/${requestId}`;
}
