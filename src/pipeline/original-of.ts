import type { OriginalRequest } from "../store/index.ts";
import type { Callback } from "./receiver.ts";

/**
 * The original of an event, as references only: most events are never stored by themselves.
 * @param body of the event, where the callback brings several
 */
export function originalOf(callback: Callback, body: Uint8Array): OriginalRequest | undefined {
  const { source, method, target, rawHeaders, receivedAt } = callback;
  if (source.keeper === undefined || rawHeaders === undefined || receivedAt === undefined) return undefined;
  return { receivedAt, method, target, rawHeaders, body, keeper: source.keeper };
}
