import swagger from "@fastify/swagger";
import Fastify from "fastify";
import { z } from "zod";
import { registerOperations } from "../src/admin/admin-application.ts";
import { registerServerOperations } from "../src/admin/admin-listener.ts";
import type { SignInDependencies } from "../src/admin/index.ts";
import { responseJsonSchema } from "../src/admin/operation.ts";
import { SCHEMAS } from "../src/admin/schemas.ts";

const NO_DEPENDENCIES = { access: {}, authenticator: { onSessionEnd() {} } } as unknown as SignInDependencies;

const API_VERSION = "1.0.0";
const DESCRIPTION =
  "For operators, on the admin listener. Below /api/v1/ send `Authorization: Bearer <ADMIN_TOKEN>`, or the cookie of a session (docs/admin-api.md). Lists run newest first. In a path, an id that is `.` or `..`, with or without leading `~`, gets one more `~`: `/api/v1/events/platform/~..` is the event `..`.";

/** The description of the admin API (docs/openapi.json), from the operations of its routes. */
export async function describeAdminApi(): Promise<object> {
  const app = Fastify({ logger: false, exposeHeadRoutes: false });
  app.setSerializerCompiler(() => JSON.stringify);
  app.setValidatorCompiler(() => () => true);
  for (const [name, shape] of Object.entries(SCHEMAS)) {
    app.addSchema({ $id: name, ...responseJsonSchema(shape) });
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
    transform: ({ schema = {}, url }) => {
      const inputs = Object.entries(schema).filter(([, part]) => part instanceof z.ZodType);
      const read = inputs.map(([part, shape]) => [part, inputJsonSchema(shape as z.ZodType)]);
      return { schema: { ...schema, ...Object.fromEntries(read) }, url };
    },
    refResolver: { buildLocalReference: ({ $id }, _base, _fragment, index) => String($id ?? `def-${index}`) },
  });
  // In a plugin of its own: the description is made of routes that come after its plugin.
  await app.register((inner, _options, done) => {
    // To tell of its routes a listener needs nothing that they work with.
    registerOperations(inner, NO_DEPENDENCIES);
    registerServerOperations(inner, NO_DEPENDENCIES);
    done();
  });
  await app.ready();
  const description = app.swagger();
  await app.close();
  return description;
}

function inputJsonSchema(shape: z.ZodType): object {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, { io: "input" });
  return schema;
}
