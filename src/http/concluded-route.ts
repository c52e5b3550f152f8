import type { CallbackLogRow } from "../domain/index.ts";
import type { Reception, RowOf } from "../receive/index.ts";
import type { Concluder, Render } from "./conclude.ts";
import type { Incoming } from "./incoming.ts";
import type { PublicDeps } from "./public-deps.ts";

/** Handles a request that has passed the gate and whose body has arrived, to its answer. */
export type Route = (request: Incoming) => Promise<void>;

/** Counts the request in flight, hands out the row that commits with a success, and answers. */
export function concludedRoute(
  { metrics }: PublicDeps,
  concluder: Concluder,
  source: string,
  run: (request: Incoming, rowOf: RowOf) => Promise<Reception>,
  render: Render = (_request, _outcome, answer) => answer,
): Route {
  return async (request) => {
    let stored: CallbackLogRow | undefined;
    metrics.inFlight.inc();
    try {
      const reception = await run(request, (ended) => {
        stored = concluder.rowFor(request, ended, { source, render });
        return stored;
      });
      concluder.conclude(request, reception, { source, stored, render });
    } finally {
      metrics.inFlight.dec();
    }
  };
}
