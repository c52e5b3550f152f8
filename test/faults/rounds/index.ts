import { attemptIds } from "./attempt-ids.ts";
import { batches } from "./batch.ts";
import { CROWD_ROUNDS } from "./crowd.ts";
import { DEADLINE_ROUNDS } from "./deadline.ts";
import { DISK_ROUNDS } from "./disk.ts";
import { ends } from "./ends.ts";
import { failover } from "./failover.ts";
import { flood } from "./flood.ts";
import { forgedFlood } from "./forged-flood.ts";
import { fuzz } from "./fuzz.ts";
import { hostile } from "./hostile.ts";
import { killAnytime, killAtSteps } from "./kill.ts";
import { largeBodies } from "./large-bodies.ts";
import { NEIGHBOUR_ROUNDS } from "./neighbours.ts";
import { overload } from "./overload.ts";
import { POSTGRES_ROUNDS } from "./postgres.ts";
import { POWER_ROUNDS } from "./power.ts";
import { refusals } from "./refusals.ts";
import type { Round } from "./round.ts";
import { rolling, stops } from "./signals.ts";
import { storm } from "./storm.ts";
import { clocks, halts } from "./time.ts";
import { timing } from "./timing.ts";
import { UNAUTHENTICATED_ROUNDS } from "./unauthenticated.ts";
import { UNRULY_ROUNDS } from "./unruly.ts";

/** In the order in which they run: first what a machine that gets other work in the meantime would spoil. */
export const ROUNDS: readonly Round[] = [
  overload("sqlite"),
  overload("postgres"),
  timing,
  killAnytime("sqlite", 800),
  killAtSteps("sqlite", 200),
  killAnytime("postgres", 150),
  killAnytime("postgres", 50, 3),
  killAtSteps("postgres", 100),
  storm,
  ...POSTGRES_ROUNDS,
  failover,
  ...DISK_ROUNDS,
  ...POWER_ROUNDS,
  ...NEIGHBOUR_ROUNDS,
  clocks("sqlite"),
  clocks("postgres"),
  halts,
  stops("sqlite"),
  stops("postgres"),
  rolling,
  ...UNRULY_ROUNDS,
  ends("sqlite", [1]),
  ends("postgres", [2, 1]),
  attemptIds("sqlite", 50),
  attemptIds("postgres", 50),
  refusals("sqlite", 50),
  refusals("postgres", 50),
  batches("sqlite", 50),
  batches("postgres", 50),
  ...DEADLINE_ROUNDS,
  flood("sqlite"),
  flood("postgres"),
  largeBodies,
  ...CROWD_ROUNDS,
  ...UNAUTHENTICATED_ROUNDS,
  hostile,
  forgedFlood,
  fuzz,
];
