import { until } from "../../support/until.ts";
import type { Book } from "./book.ts";

/** Resolves when so many further events have been acknowledged. */
export async function goesOn(book: Book, events: number, limitMs = 20_000): Promise<void> {
  const before = book.acknowledged;
  await until(() => book.acknowledged >= before + events, limitMs);
}
