import { expect, it } from "vitest";
import { openTarget, withDatabase } from "../support/databases.ts";
import { addEffect, committing, countOf, EFFECTS, newRecord } from "../support/effects.ts";
import { runOnce } from "../support/once.ts";
import { withWire } from "../support/wire.ts";

/** ReadyForQuery, outside a transaction (PostgreSQL's manual, 54.7). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: bytes of the protocol
const READY = /Z\u0000\u0000\u0000\u0005I/;

/** What a server says to a session that an administrator ends. */
function ended(): string {
  const fields = "SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0";
  const length = Buffer.alloc(4);
  length.writeInt32BE(fields.length + 4);
  return `E${length.toString("latin1")}${fields}`;
}

it("a session that the server ends at hand-over fails nothing else, and another one is used", () =>
  withDatabase("postgres", (target) =>
    withWire(target.url, async (wire) => {
      const { store } = await openTarget({ dialect: "postgres", url: target.url }, { migrations: [EFFECTS] });
      await store.close();
      const through = await openTarget(
        { dialect: "postgres", url: wire.through(target.url) },
        { migrations: [EFFECTS] },
      );
      try {
        // In one piece with the word that the connection is ready, so that nobody listens to it yet.
        let left = 3;
        wire.replace(READY, (found) => {
          left -= 1;
          return left >= 0 ? found + ended() : found;
        });
        const deliveries = Array.from({ length: 20 }, (_, at) =>
          runOnce(through.store, newRecord(`e${at}`), (scope) => addEffect(scope, `e${at}`), committing()),
        );
        const endings = await Promise.all(deliveries);
        expect(endings.every(({ kind }) => kind === "completed" || kind === "duplicate")).toBe(true);
        expect(left).toBeLessThan(0);
        expect(await countOf(target, "effects")).toBe(20);
      } finally {
        await through.store.close();
      }
    }),
  ));
