import Fastify, { type FastifyInstance } from "fastify";
import { z } from "zod";
import { SHAPES } from "./shapes.ts";

/** The first part is the one in the paths. */
const API_VERSION = "1.0.0";
const DESCRIPTION =
  "For operators, on the admin listener. Below /api/v1/ send `Authorization: Bearer <ADMIN_TOKEN>`, or the cookie of a session (docs/access.md). Lists run newest first. An id that is `.` or `..`, be it with `~` before it, gets one more `~` before it in a path: `/api/v1/events/platform/~..` is the event `..`.";

/**
 * The description of the admin API in OpenAPI 3.1, made from the schemas of its routes: once, when somebody asks for it, since
 * a start needs none of what that takes.
 */
export async function describeApi(register: (app: FastifyInstance) => void): Promise<object> {
  const { default: swagger } = await import("@fastify/swagger");
  const app = Fastify({ logger: false, exposeHeadRoutes: false });
  app.setSerializerCompiler(() => JSON.stringify);
  for (const [name, shape] of Object.entries(SHAPES)) {
    const { $schema: _, ...schema } = z.toJSONSchema(shape, { override: withoutBounds });
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

/** The bounds of what JavaScript counts exactly are nobody's business. */
function withoutBounds({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.type !== "integer") return;
  delete jsonSchema.minimum;
  delete jsonSchema.maximum;
}
