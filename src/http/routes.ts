import type { FastifyReply, FastifyRequest } from "fastify";
import type { CallbackLogRow, Version } from "../domain/index.ts";
import { type Reception, type RowOf, receive } from "../receive/index.ts";
import { versionOf } from "./addresses.ts";
import type { Concluder, Render } from "./conclude.ts";
import { bodyOf } from "./log-row.ts";
import type { PublicDeps } from "./public-deps.ts";

export type Route = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** `POST {base}/api[/v1|/v2]/platform/callback` (SPEC 4.1, 4.2). */
export function callbackRoute(
  version: Version | "by_header",
  timeLimitMs: number,
  deps: PublicDeps,
  concluder: Concluder,
): Route {
  const { source, receiver } = deps;
  return concludedRoute(deps, concluder, source.name, (request, rowOf) => {
    const headers = request.raw.headersDistinct;
    return receive(
      {
        source,
        version: version === "by_header" ? versionOf(headers) : version,
        headers,
        body: bodyOf(request),
        deadline: request.facts.startedAt + timeLimitMs,
      },
      receiver,
      rowOf,
    );
  });
}

/** Counts the request in flight, hands out the row that commits with a success, and answers. */
export function concludedRoute(
  { metrics }: PublicDeps,
  concluder: Concluder,
  source: string,
  run: (request: FastifyRequest, rowOf: RowOf) => Promise<Reception>,
  render: Render = (_request, _outcome, answer) => answer,
): Route {
  return async (request, reply) => {
    let stored: CallbackLogRow | undefined;
    metrics.inFlight.inc();
    try {
      const reception = await run(request, (ended) => {
        stored = concluder.rowFor(request, ended, { source, render });
        return stored;
      });
      return await concluder.conclude(request, reply, reception, { source, stored, render });
    } finally {
      metrics.inFlight.dec();
    }
  };
}
