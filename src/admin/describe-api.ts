import Fastify, { type FastifyInstance } from "fastify";
import { z } from "zod";
import { operation } from "./operation.ts";
import { SCHEMAS } from "./schemas.ts";

/** The first part is the one in the paths. */
const API_VERSION = "1.0.0";
const DESCRIPTION =
  "For operators, on the admin listener. Below /api/v1/ send `Authorization: Bearer <ADMIN_TOKEN>`, or the cookie of a session (docs/access.md). Lists run newest first. In a path, an id that is `.` or `..`, with or without leading `~`, gets one more `~`: `/api/v1/events/platform/~..` is the event `..`.";

/**
 * The description of the admin API in OpenAPI 3.1, made from the schemas of its routes: once, on the first request, since
 * a start needs none of what that takes.
 */
export async function describeApi(register: (app: FastifyInstance) => void): Promise<object> {
  const { default: swagger } = await import("@fastify/swagger");
  const app = Fastify({ logger: false, exposeHeadRoutes: false });
  app.setSerializerCompiler(() => JSON.stringify);
  for (const [name, shape] of Object.entries(SCHEMAS)) {
    const { $schema: _, ...schema } = z.toJSONSchema(shape, { override: withoutIntegerBounds });
    app.addSchema({ $id: name, ...schema });
  }
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Oncehook admin API", version: API_VERSION, description: DESCRIPTION },
      security: [{ bearer: [] }, { session: [] }],
      components: {
        securitySchemes: {
          bearer: { type: "http", scheme: "bearer" },
          session: { type: "apiKey", in: "cookie", name: "__Host-oncehook-session" },
        },
      },
    },
    refResolver: { buildLocalReference: ({ $id }, _base, _fragment, index) => String($id ?? `def-${index}`) },
  });
  // In a plugin of its own: the description is made of routes that come after its plugin.
  await app.register((inner, _options, done) => {
    register(inner);
    done();
  });
  await app.ready();
  const description = app.swagger();
  await app.close();
  return description;
}

/** Leaves out the bounds of JavaScript's safe integers. */
function withoutIntegerBounds({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.type !== "integer") return;
  delete jsonSchema.minimum;
  delete jsonSchema.maximum;
}

const GET_DESCRIPTION = operation({
  summary: "This description, in OpenAPI 3.1",
  responses: { 200: { description: "It is this one.", content: { schema: { type: "object" } } } },
});

/** `GET /api/v1/openapi.json`. @param describe called once, on the first request */
export function registerDescription(app: FastifyInstance, describe: () => Promise<object>): void {
  let description: Promise<object> | undefined;
  app.get("/api/v1/openapi.json", { schema: GET_DESCRIPTION }, async () => {
    description ??= describe();
    return description;
  });
}
