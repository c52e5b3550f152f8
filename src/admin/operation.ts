import { readFile } from "node:fs/promises";
import type {
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
  RouteShorthandOptions,
} from "fastify";
import { z } from "zod";
import type { Role } from "../store/index.ts";
import { packageFile } from "../system/index.ts";
import { compressed } from "./compressed.ts";
import type { SCHEMAS } from "./schemas.ts";

type SchemaName = keyof typeof SCHEMAS;

/** The body of a response: a named shape, a page of them, another shape, or a text. */
type Content =
  | SchemaName
  /** `also`: the fields of the page besides items and cursor. */
  | { readonly pageOf: SchemaName; readonly also?: Shape }
  | { readonly shape: z.ZodType }
  | { readonly media: readonly string[] };

/** A description, and the body; an error by default. */
type Response = string | readonly [description: string, content: Content];

/** The guard's rules of a route, in the route's schema. */
export interface GuardRules {
  readonly isPublic?: boolean;
  /** For any `Host`: the response holds no secret. */
  readonly anyHost?: boolean;
  /** The role that it needs; by default every role may read, and only operators may change things. */
  readonly role?: Role;
  /** The name under which the audit log has it, such as `failure.replay`; everything but GET must have one. */
  readonly action?: string;
  /** The name instead where the query asks for a dry run. */
  readonly dryRunAction?: string;
  /** The fields of the body that the audit log keeps; none of them may hold a secret. */
  readonly auditedFields?: readonly string[];
}

declare module "fastify" {
  interface FastifySchema {
    guard?: GuardRules;
  }
}

type Shape = z.core.$ZodLooseShape;
type OutputOf<Fields extends Shape> = z.output<z.ZodObject<Fields>>;

/** One operation of the admin API, as its description shows it; requests are validated by its inputs. */
interface Operation<Params extends Shape, Query extends Shape, Body extends z.ZodType> extends GuardRules {
  readonly summary: string;
  readonly description?: string;
  readonly params?: Params;
  readonly querystring?: Query;
  readonly body?: Body;
  /** By status, besides 401 and 400, which every operation has that could answer them. */
  readonly responses: Readonly<Record<number, Response>>;
}

/** A route without sign-in outside the admin API: of the dashboard, a sign-in, or the sandbox platform. */
export const HIDDEN_ROUTE = { schema: { hide: true, guard: { isPublic: true } } };

/** The options of a route, by which Fastify validates and from which the API's description is made. */
export function operation<
  Params extends Shape = Shape,
  Query extends Shape = Shape,
  Body extends z.ZodType = z.ZodUnknown,
>(
  described: Operation<Params, Query, Body>,
): RouteShorthandOptions<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  { Params: OutputOf<Params>; Querystring: OutputOf<Query>; Body: z.output<Body> }
> {
  const { summary, description, params, querystring, body, responses, ...guard } = described;
  const isPublic = guard.isPublic === true;
  const hasInput = params !== undefined || querystring !== undefined || body !== undefined;
  const answers: Record<string, Response> = {
    ...(isPublic ? {} : AUTHENTICATED_RESPONSES),
    ...(isPublic || guard.action === undefined ? {} : WRITE_RESPONSES),
    ...(hasInput ? { 400: "A parameter or the body is not valid." } : {}),
    ...responses,
  };
  const schema = {
    summary,
    ...(description === undefined ? {} : { description }),
    ...(isPublic ? { security: [] } : {}),
    ...(params === undefined ? {} : { params: z.strictObject(params) }),
    ...(querystring === undefined ? {} : { querystring: z.strictObject(querystring) }),
    ...(body === undefined ? {} : { body }),
    response: Object.fromEntries(
      Object.entries(answers).map(([status, answer]) => [status, responseSchema(status, answer)]),
    ),
    guard,
  };
  return { schema, ...(isPublic ? {} : { onSend: compressed }) };
}

const AUTHENTICATED_RESPONSES = {
  401: "Neither a valid token nor a session.",
  429: "Too many wrong tokens came from this address; `Retry-After` says how long to wait.",
  503: "The database does not answer.",
};
const WRITE_RESPONSES = {
  403: "The role operator is required, or the request came from another origin.",
  503: "The audit log cannot be written just now, so nothing was done; or the database does not answer.",
};

function responseSchema(status: string, response: Response): object {
  const [description, content] = typeof response === "string" ? ([response, "Error"] as const) : response;
  if (status === "204") return { description, type: "null" };
  const media = typeof content === "object" && "media" in content ? content.media : ["application/json"];
  return { description, content: Object.fromEntries(media.map((type) => [type, { schema: schemaOf(content) }])) };
}

function schemaOf(content: Content): object {
  if (typeof content === "string") return { $ref: `${content}#` };
  if ("media" in content) return { type: "string" };
  if ("shape" in content) return responseJsonSchema(content.shape);
  const { pageOf, also = {} } = content;
  const { required = [], properties, ...page } = responseJsonSchema(z.strictObject({ next_cursor, ...also }));
  const items = { type: "array", items: { $ref: `${pageOf}#` } };
  return { ...page, required: ["items", ...required], properties: { items, ...properties } };
}

const next_cursor = z
  .string()
  .nullable()
  .describe("Pass it as `cursor` for the next, older page; null on the last one.");

/** Without the bounds of safe integers, which no client needs. */
export function responseJsonSchema(shape: z.ZodType): z.core.JSONSchema.BaseSchema {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, {
    override({ jsonSchema }) {
      if (jsonSchema.type === "integer") for (const bound of ["minimum", "maximum"]) delete jsonSchema[bound];
    },
  });
  return schema;
}

/** Ends a request with a status and the body `{"error": message}`. */
export class HttpError extends Error {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(statusCode: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.statusCode = statusCode;
    this.headers = headers;
  }
}

const GET_DESCRIPTION = operation({
  summary: "This description, in OpenAPI 3.1",
  responses: { 200: ["It is this one.", { shape: z.looseObject({}) }] },
});

/** Written by `npm run tables`. */
const WRITTEN = packageFile("docs/openapi.json");

export function registerDescription(app: FastifyInstance): void {
  app.get("/api/v1/openapi.json", GET_DESCRIPTION, async (_request, reply) =>
    reply.type("application/json; charset=utf-8").send(await readFile(WRITTEN, "utf8")),
  );
}
