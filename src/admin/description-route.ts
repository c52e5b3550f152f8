import type { FastifyInstance } from "fastify";
import { operation } from "./operation.ts";

const DESCRIPTION = operation({
  summary: "This description, in OpenAPI 3.1",
  answers: { 200: { says: "It is this one.", content: { schema: { type: "object" } } } },
});

/** `GET /api/v1/openapi.json`. @param describe asked once, when somebody wants to know */
export function registerDescription(app: FastifyInstance, describe: () => Promise<object>): void {
  let description: Promise<object> | undefined;
  app.get("/api/v1/openapi.json", { schema: DESCRIPTION }, async () => {
    description ??= describe();
    return description;
  });
}
