import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { databaseFile } from "../../support/open-target.ts";
import { until } from "../../support/until.ts";
import { goesOn } from "../driver/goes-on.ts";
import { type UnderFire, underFire } from "../driver/round.ts";
import { inParts } from "./in-parts.ts";
import type { Round } from "./round.ts";

/** Somebody else has the embedded database open: a backup that takes long, a person with a shell. */
interface Neighbour {
  readonly name: string;
  readonly title: string;
  readonly harm: (database: DatabaseSync, file: string, round: UnderFire) => Promise<void>;
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
/** The log begins anew once it is longer than this, and its file is shortened to twice that; docs/decisions/group-commit.md. */
const LONG_LOG_BYTES = 8_192 * 4_096;
const CALLBACKS = 30;

function neighbour({ name, title, harm }: Neighbour): Round {
  return {
    name,
    title,
    full: 50,
    short: 1,
    run: (place) =>
      inParts(place, (count) =>
        place.withTarget("sqlite", (target) =>
          underFire(
            { target, chance: place.chance.fork(), platform: { connections: 16, rate: 600 } },
            async (round) => {
              const database = new DatabaseSync(databaseFile(target));
              try {
                for (let done = 0; done < count; done += 1) {
                  await sleep(round.chance.between(50, 300));
                  await harm(database, databaseFile(target), round);
                  await goesOn(round.book, CALLBACKS);
                }
              } finally {
                database.close();
              }
            },
          ),
        ),
      ),
  };
}

export const NEIGHBOUR_ROUNDS = [
  neighbour({
    name: "locked",
    title: "the database locked by another writer, SQLite",
    async harm(database, _file, { chance }) {
      database.exec("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE");
      await sleep(chance.between(50, 1_500));
      database.exec("ROLLBACK");
    },
  }),
  neighbour({
    name: "reader",
    title: "a reader that keeps the WAL from restarting, SQLite",
    async harm(database, file, round) {
      database.exec("BEGIN");
      database.prepare("SELECT count(*) FROM oncehook_records").get();
      const before = sizeOf(`${file}-wal`);
      await goesOn(round.book, CALLBACKS);
      await sleep(round.chance.between(0, 1_000));
      if (sizeOf(`${file}-wal`) < before) throw new Error("the log began anew under a reader");
      database.exec("ROLLBACK");
      await until(() => sizeOf(`${file}-wal`) <= 2 * LONG_LOG_BYTES, 60_000);
    },
  }),
];
