import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/index.ts";
import { checkDatabase } from "../support/check-database.ts";
import { DIALECTS, withDatabase } from "../support/databases.ts";
import { event, startReceiver, testConfig } from "../support/receiver.ts";

const WORDS = "held SQLite's only writer";

const slow = defineHandler({
  type: "slow",
  data: z.object({ ms: z.number() }),
  async handle({ event: { data } }) {
    await sleep(data.ms);
    return {};
  },
});

it.each(DIALECTS)(
  "a handler that holds SQLite's writer is named by the log, the next start and doctor: %s",
  { tags: "full" },
  (dialect) =>
    withDatabase(dialect, async (target) => {
      const receiver = await startReceiver(target, { handlers: [slow] });
      await receiver.send(event("slow", { ms: 1 }));
      expect(receiver.lines.filter(({ msg }) => String(msg).includes(WORDS))).toEqual([]);
      await receiver.send(event("slow", { ms: 1_050 }));
      await receiver.stop();
      const again = await startReceiver(target, { handlers: [slow] });
      await again.stop();
      const findings = await checkDatabase(testConfig(target), [], new Date());
      const said = [receiver.lines, again.lines, findings.map(({ message }) => ({ msg: message }))].map((lines) =>
        lines.filter(({ msg }) => String(msg).includes(`the handler of platform slow ${WORDS} for 1`)),
      );
      expect(said.map(({ length }) => length)).toEqual(dialect === "sqlite" ? [1, 1, 1] : [0, 0, 0]);
      const muchLater = await checkDatabase(testConfig(target), [], new Date(Date.now() + 8 * 86_400_000));
      expect(muchLater.filter(({ message }) => message.includes(WORDS))).toEqual([]);
    }),
);
