import type { FastifyInstance } from "fastify";
import { describeApi } from "./describe-api.ts";
import { operation } from "./operation.ts";

const DESCRIPTION = operation({
  summary: "This description, in OpenAPI 3.1",
  answers: { 200: { says: "It is this one.", content: { schema: { type: "object" } } } },
});

/** `GET /api/v1/openapi.json`. @param register all the routes that it tells of */
export function registerDescription(app: FastifyInstance, register: (app: FastifyInstance) => void): void {
  let description: Promise<object> | undefined;
  app.get("/api/v1/openapi.json", { schema: DESCRIPTION }, async () => {
    description ??= describeApi(register);
    return description;
  });
}
