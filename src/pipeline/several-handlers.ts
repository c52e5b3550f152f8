import { isRefused, type Outcome } from "../domain/index.ts";
import { runItems, worse } from "./batch.ts";
import type { CallbackResult, Delivery, Receiver } from "./receiver.ts";

/** Processes a delivery for one handler: the one that its key's source names. */
type Process = (delivery: Delivery, receiver: Receiver) => void;

/**
 * A delivery of a source whose handlers have names. Each handler of its type runs by itself, under a key that names it.
 * All of them have one response, like the items of a batch. One that failed makes the response a failure, and the
 * platform sends the event again. It is then a duplicate for the others.
 */
export function processForEach(delivery: Delivery, receiver: Receiver, process: Process): void {
  const sources = keySourcesOf(delivery, receiver);
  const [first = delivery.key.source, ...others] = sources;
  if (others.length === 0) {
    return process(first === delivery.key.source ? delivery : deliveryFor(first, delivery), receiver);
  }
  const outcomes: Outcome[] = [];
  const start = (index: number, settleHandler: (outcome: Outcome) => void): void => {
    const source = sources[index] as string;
    const settle = (result: CallbackResult): void => {
      outcomes[index] = result.outcome;
      delivery.settleItem?.(result);
      settleHandler(result.outcome);
    };
    process(deliveryFor(source, { ...delivery, settle }), receiver);
  };
  runItems([...sources.keys()], start, () => {
    const { isJson } = delivery.content;
    const eventType = delivery.content.typeOf() as string;
    // In the order of the handlers: the response is the first one's where they ended alike.
    delivery.settle({ outcome: outcomes.reduce(worse), eventType, isJson, isVerified: true, isCombined: true });
  });
}

/** An event that is refused or not wanted settles once, and not for each handler. */
function keySourcesOf({ key, version, content, contract }: Delivery, { registry }: Receiver) {
  const eventType = content.typeOf();
  if (isRefused(eventType)) return [];
  try {
    if (contract.isWanted?.(content, eventType) === false) return [];
  } catch {
    return [];
  }
  return registry.keySources(key.source, version, eventType);
}

function deliveryFor(keySource: string, delivery: Delivery): Delivery {
  const { key, buildLogEntry, settle } = delivery;
  return {
    ...delivery,
    key: { source: keySource, eventId: key.eventId },
    buildLogEntry: (result) => buildLogEntry({ ...result, keySource }),
    settle: (result) => settle({ ...result, keySource }),
  };
}
