import type { Sealer } from "../seal/index.ts";
import type { NewHeard, StoredHeard } from "../store/index.ts";

/** A callback as it came over the wire. */
export interface HeardRequest {
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
export function sealHeard(request: HeardRequest, sealer: Sealer): NewHeard {
  const { requestId, receivedAt, method, url, rawHeaders, body } = request;
  const head = Buffer.from(`${JSON.stringify({ method, url, rawHeaders })}\n`);
  return { requestId, receivedAt, sealed: sealer.seal(Buffer.concat([head, body]), contextOf(requestId)) };
}

/** @throws SealBroken; SealKeyMissing where the key that sealed it is not configured any more */
export function openHeard({ requestId, receivedAt, sealed }: StoredHeard, sealer: Sealer): HeardRequest {
  const plain = Buffer.from(sealer.open(sealed, contextOf(requestId)));
  const end = plain.indexOf(LINE_FEED);
  const head = JSON.parse(plain.toString("utf8", 0, end)) as Pick<
    HeardRequest,
    "method" | "url" | "rawHeaders"
  >;
  return { ...head, requestId, receivedAt: new Date(receivedAt), body: plain.subarray(end + 1) };
}

function contextOf(requestId: string): string {
  return `heard/${requestId}`;
}
