import { type CallbackLogRow, refused } from "../domain/index.ts";
import type { Reception, RowOf } from "../receive/index.ts";
import type { Concluder, Render } from "./conclude.ts";
import type { Incoming } from "./incoming.ts";
import type { IsEndpointCheck, PublicDeps } from "./public-deps.ts";

/** Handles a request that has passed the gate and whose body has arrived, to its answer. */
export type Route = (request: Incoming) => Promise<void>;

/** Counts the request in flight, hands out the row that commits with a success, and answers. */
export function concludedRoute(
  { metrics, isEndpointCheck }: PublicDeps,
  concluder: Concluder,
  source: string,
  run: (request: Incoming, rowOf: RowOf) => Promise<Reception>,
  render: Render = (_request, _outcome, answer) => answer,
): Route {
  return async (request) => {
    let stored: CallbackLogRow | undefined;
    metrics.inFlight.inc();
    try {
      const ended = await run(request, (success) => {
        stored = concluder.rowFor(request, success, { source, render });
        return stored;
      });
      const reception = asEndpointCheck(request, ended, isEndpointCheck) ?? ended;
      concluder.conclude(request, reception, { source, stored, render });
    } finally {
      metrics.inFlight.dec();
    }
  };
}

/** How a request without any credential is refused. */
const UNSIGNED: ReadonlySet<string> = new Set(["signature_missing", "token_missing", "state_unknown"]);
const EMPTY_EVENT = Buffer.from("{}");

/** Only what carries nothing is taken for a check, so that a proof that was seen on the way hides no callback. */
function asEndpointCheck(
  { message, body }: Incoming,
  { outcome }: Reception,
  isEndpointCheck: IsEndpointCheck,
): Reception | undefined {
  // biome-ignore lint/plugin: an empty event is no secret.
  if (outcome.ending !== "refused" || !UNSIGNED.has(outcome.code) || !EMPTY_EVENT.equals(body))
    return undefined;
  if (!isEndpointCheck(message.headersDistinct)) return undefined;
  return { outcome: refused("endpoint_check", { message: outcome.message }) };
}
