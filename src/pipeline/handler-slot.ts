import { failed, type JsonValue, type PathKey, valueAt } from "../domain/index.ts";
import type { Handler } from "../handlers/index.ts";
import { sha256Hex } from "../sources/index.ts";
import { type EventOrder, isKeyWaiting } from "../store/index.ts";
import type { Release } from "../system/index.ts";
import type { AttemptInput, Receiver } from "./receiver.ts";

/**
 * Waits for earlier events of the same key, and then until the handler's `concurrency` allows one more run. In the other
 * order, the waiting events of one key could use up all runs of the handler. The slot covers `prepare` as well. It orders
 * this process only: the transaction waits for the other processes. An event that may be accepted does not wait, and runs
 * after the accepted events of its key.
 * @returns undefined where the handler needs none; `handler_busy` where the deadline came first
 */
export async function takeSlot(input: AttemptInput, handler: Handler, { handlerSlots, store }: Receiver) {
  if (handler.concurrency === undefined && handler.order === undefined) return undefined;
  const deadline = input.mayBeAccepted ? performance.now() : input.deadline;
  const order = orderOf(input, handler);
  const held: Release[] = [];
  const release = () => {
    for (const one of held.splice(0)) one();
  };
  if (order !== undefined) {
    const ofKey = await handlerSlots.acquire(`${order.source} ${order.orderKey}`, 1, deadline);
    if (ofKey === undefined) return failed("handler_busy", new Error(ORDER_BUSY));
    held.push(ofKey);
    if (input.mayBeAccepted && (await isKeyWaiting(store.database, order))) {
      release();
      return failed("handler_busy", new Error(ORDER_BUSY));
    }
  }
  if (handler.concurrency !== undefined) {
    const ofHandler = await handlerSlots.acquire(handler, handler.concurrency, deadline, input.key.source);
    if (ofHandler === undefined) {
      release();
      const busy = `${handler.concurrency} runs of the handler (its \`concurrency\`) were at work until the deadline`;
      return failed("handler_busy", new Error(busy));
    }
    held.push(ofHandler);
  }
  return { order, release };
}

const ORDER_BUSY = "earlier events with the same `orderBy` were at work until the deadline";

/** The key of an event's `orderBy`, under which it waits where it is stored; empty for an event without one. */
export function orderKeyOf(
  { key, version, content }: Pick<AttemptInput, "key" | "version" | "content">,
  eventType: string,
  { registry }: Pick<Receiver, "registry">,
): string {
  const handler = registry.find(key.source, version, eventType);
  return (handler && orderOf({ key, content }, handler)?.orderKey) ?? "";
}

/** Undefined where the event has no key. Each handler has other keys: one id may mean different things to two handlers. */
function orderOf(
  { key, content: { json } }: Pick<AttemptInput, "key" | "content">,
  { order, type }: Handler,
): EventOrder | undefined {
  if (order === undefined) return undefined;
  const text = keyTextOf(valueAt(json, order.by));
  if (text === undefined) return undefined;
  const { staleBy } = order;
  const isBySequence = typeof staleBy === "object";
  return {
    source: key.source,
    orderKey: `${type} ${storedOrderKey(text)}`,
    at: json.timestamp as number,
    sequence: isBySequence ? sequenceOf(json, staleBy) : null,
    staleBy: isBySequence ? "sequence" : staleBy,
  };
}

/** Short printable ASCII, which both databases store unchanged. Any other key is stored as its hash. */
const PLAIN = /^[!-~][ -~]{0,199}$/;

/** A key as it is stored behind the type of its handler. */
export function storedOrderKey(text: string): string {
  return PLAIN.test(text) ? text : `sha256:${sha256Hex(Buffer.from(text, "utf16le"))}`;
}

const DIGITS = /^\d{1,199}$/;
const LEADING_ZEROS = /^0+/;
const MAX_DIGITS = 99;

function keyTextOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === "string" && value !== "") return value;
  return Number.isSafeInteger(value) ? String(value) : undefined;
}

/** A text that sorts as its number does: the count of digits comes first. Other texts sort after all numbers. */
function sequenceOf(json: JsonValue, place: readonly PathKey[]): string | null {
  const text = keyTextOf(valueAt(json, place));
  if (text === undefined || !PLAIN.test(text)) return null;
  const significant = DIGITS.test(text) ? text.replace(LEADING_ZEROS, "") || "0" : "";
  const digits = significant === "" || significant.length > MAX_DIGITS ? undefined : significant;
  if (digits === undefined) return text.startsWith("-") ? null : `text ${text}`;
  return `${String(digits.length).padStart(2, "0")} ${digits}`;
}
