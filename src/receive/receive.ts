import { isRefused } from "../domain/index.ts";
import type { Callback, Receiver, Reception, RowOf } from "./callback.ts";
import { chooseType } from "./choose-type.ts";
import { identify } from "./identify.ts";
import { onceOnly } from "./once-only.ts";
import { sha256Hex } from "./sha256.ts";

/**
 * The sequence of SPEC 1.7 for one callback, from its bytes to its outcome. What comes before, (a) receiving
 * bounded bytes over HTTPS, and after, (h) answering, is `http/`'s.
 */
export async function receive(callback: Callback, receiver: Receiver, rowOf: RowOf): Promise<Reception> {
  // (b) verify who sent it, over the bytes as they arrived.
  const verifying = receiver.tracer?.begin("verify");
  const verdict = await callback.source.scheme.verify(callback);
  verifying?.end(verdict);
  callback.verified?.();
  if (!("verified" in verdict)) return { outcome: verdict };
  receiver.observer.credentialsUsed(verdict.verified);

  // (c) the event's id: whether it was handled before is looked up under it.
  const identifying = receiver.tracer?.begin("identify");
  const identified = identify(callback.body, callback.source.name);
  identifying?.end(identified);
  if (isRefused(identified)) return { outcome: identified };

  // (c) to (g): the look-up, dispatch, the handler, the record and the log.
  const typeOf = () => chooseType(callback, identified, receiver);
  const bodySha256 = sha256Hex(callback.body);
  const { key, json } = identified;
  const { version, body, deadline } = callback;
  const delivery = { key, json, bodyJson: json, body, bodySha256, version, deadline, typeOf };
  return receiver.places.take(() => onceOnly(delivery, receiver, rowOf));
}
