export type {
  Callback,
  Observer,
  ReceiveRules,
  Receiver,
  Reception,
  RowOf,
  Source,
} from "./callback.ts";
export { errorText } from "./error-text.ts";
export { type Identified, parseEvent, parseObject } from "./identify.ts";
export { lookedUp, saysNothing, sealContext } from "./keep-failure.ts";
export { type Delivery, onceOnly } from "./once-only.ts";
export { createPlaces, type Places } from "./places.ts";
export { LATE_WORK_MS, preparationContext } from "./prepare-once.ts";
export { receive } from "./receive.ts";
export { Rehearsal, type RehearsedNotification, type RehearsedStatement } from "./rehearsal.ts";
export { runEvent } from "./run-event.ts";
export { createRunTurns, type RunTurns } from "./run-turns.ts";
export { sha256Hex } from "./sha256.ts";
export { createSingleFlight, type SingleFlight } from "./single-flight.ts";
export type { Work } from "./work.ts";
