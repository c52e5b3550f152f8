import type { FastifyInstance } from "fastify";
import type { Span } from "../domain/index.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { operation } from "./operation.ts";
import { overviewOf } from "./overview.ts";

const OVERVIEW = operation({
  summary: "How callbacks ended and how long they took, and what needs a person",
  querystring: {
    type: "object",
    properties: { span: { type: "string", enum: ["hour", "day", "month"], default: "hour" } },
    additionalProperties: false,
  },
  answers: { 200: { says: "It is this.", content: "Overview" } },
});

/** `GET /api/v1/overview`. */
export function registerOverview(app: FastifyInstance, deps: AdminDeps): void {
  app.get<{ Querystring: { span: Span } }>(
    "/api/v1/overview",
    { schema: OVERVIEW },
    async ({ query: { span } }) => {
      // What this process has answered is in it; the counts of others are some seconds behind.
      await deps.countNow();
      return overviewOf(span, deps, deps.clock.now());
    },
  );
}
