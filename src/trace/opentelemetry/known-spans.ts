import type { Link, SpanContext } from "@opentelemetry/api";
import { type EventKey, keyText } from "../../domain/index.ts";

/** Which span the callback of an event had, so that what comes later can point to it: in memory, and of the latest ones. */
export interface KnownSpans {
  /** The first one of an event stays. */
  remember(key: EventKey, span: SpanContext): void;
  linksTo(key: EventKey): Link[];
  forget(key: EventKey): void;
}

/** @param most how many are known; each takes about 300 bytes */
export function createKnownSpans(most: number): KnownSpans {
  const spans = new Map<string, SpanContext>();
  return {
    remember(key, span) {
      const name = keyText(key);
      if (spans.has(name)) return;
      spans.set(name, span);
      const [oldest] = spans.size > most ? spans.keys() : [];
      if (oldest !== undefined) spans.delete(oldest);
    },
    linksTo(key) {
      const span = spans.get(keyText(key));
      return span === undefined ? [] : [{ context: span }];
    },
    forget: (key) => void spans.delete(keyText(key)),
  };
}
