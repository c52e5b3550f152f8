import { z } from "zod";
import { defineHandler, type Handler } from "../../src/index.ts";

/** Handlers of these types that fail, each with its own message, until their type is mended. */
export function breaking(messages: Readonly<Record<string, string>>): {
  readonly broken: Set<string>;
  readonly handlers: readonly Handler[];
} {
  const broken = new Set(Object.keys(messages));
  const handlers = Object.entries(messages).map(([type, message]) =>
    defineHandler({
      type,
      data: z.looseObject({}),
      handle({ event }) {
        if (broken.has(type) || broken.has(event.event_id)) throw new TypeError(message);
        return Promise.resolve({ mended: type });
      },
    }),
  );
  return { broken, handlers };
}
