import type { FastifySchema } from "fastify";
import type { Role } from "../store/index.ts";
import type { GuardRules } from "./access/access.ts";
import type { SCHEMAS } from "./schemas.ts";

type SchemaName = keyof typeof SCHEMAS;

/** What an operation answers: a shape by its name, a page of them, or a JSON Schema of its own. */
type Content =
  | SchemaName
  /** `also`: what the page has besides items and cursor, each with its JSON Schema. */
  | { readonly pageOf: SchemaName; readonly also?: Readonly<Record<string, object>> }
  /** `media`: the types under which it may be answered; JSON where they are left out. */
  | { readonly schema: object; readonly media?: readonly string[] };

/** One operation of the admin API, as its description tells of it; the inputs are what requests are validated by. */
export interface Operation {
  readonly summary: string;
  readonly description?: string;
  readonly params?: object;
  readonly querystring?: object;
  readonly body?: object;
  /** By status, besides 401 and 400, which every operation has that could answer them. */
  readonly responses: Readonly<Record<number, { readonly description: string; readonly content?: Content }>>;
  /** Needs no token and no session. */
  readonly isPublic?: true;
  /** Whatever `Host` says: for probes. */
  readonly anyHost?: true;
  /** The role that it needs; by default every role may read, and only operators may change things. */
  readonly role?: Role;
  /**
   * Under which the audit log has it, such as `failure.replay`. Everything but GET must have one. Its subject there are the
   * parameters of the path, and its detail those of the query.
   */
  readonly action?: string;
  /** Under which it has a request with `dry_run=true`, such as `failure.dry_run`. */
  readonly dryRunAction?: string;
  /** The fields of the body that the audit log keeps besides; none of them may hold a secret. */
  readonly auditedFields?: readonly string[];
}

/** The schema of a route, by which Fastify validates and from which the API's description is made. */
export function operation(described: Operation): FastifySchema {
  const {
    summary,
    description,
    responses,
    isPublic,
    anyHost,
    role,
    action,
    dryRunAction,
    auditedFields,
    ...inputs
  } = described;
  const guard = definedRules({ isPublic, anyHost, role, action, dryRunAction, auditedFields });
  const errorResponses = {
    ...(isPublic === true ? {} : AUTHENTICATED_RESPONSES),
    ...(isPublic === true || action === undefined ? {} : WRITE_RESPONSES),
    ...(Object.keys(inputs).length === 0
      ? {}
      : { 400: { description: "A parameter or the body is not valid." } }),
  };
  const response = Object.fromEntries(
    Object.entries({ ...errorResponses, ...responses }).map(([status, answer]) => [
      status,
      responseSchema(Number(status), answer),
    ]),
  );
  return {
    summary,
    ...(description === undefined ? {} : { description }),
    ...(isPublic === true ? { security: [] } : {}),
    ...inputs,
    response,
    guard,
  };
}

const AUTHENTICATED_RESPONSES = {
  401: { description: "Neither a valid token nor a session." },
  429: { description: "Too many wrong tokens came from this address; `Retry-After` says how long to wait." },
  503: { description: "The database does not answer." },
};
const WRITE_RESPONSES = {
  403: { description: "The role operator is required, or the request came from another origin." },
  503: {
    description:
      "The audit log cannot be written just now, so nothing was done; or the database does not answer.",
  },
};

function definedRules(
  rules: { readonly [Name in keyof GuardRules]: GuardRules[Name] | undefined },
): GuardRules {
  return Object.fromEntries(Object.entries(rules).filter(([, value]) => value !== undefined));
}

function responseSchema(status: number, { description, content }: Operation["responses"][number]): object {
  if (status === 204) return { description, type: "null" };
  const schema = schemaOf(content ?? "Error");
  const { media = ["application/json"] } = typeof content === "object" && "schema" in content ? content : {};
  return { description, content: Object.fromEntries(media.map((type) => [type, { schema }])) };
}

function schemaOf(content: Content): object {
  if (typeof content === "string") return { $ref: `${content}#` };
  if ("schema" in content) return content.schema;
  return {
    type: "object",
    required: ["items", "next_cursor", ...Object.keys(content.also ?? {})],
    additionalProperties: false,
    properties: {
      items: { type: "array", items: { $ref: `${content.pageOf}#` } },
      next_cursor: {
        type: ["string", "null"],
        description: "Pass it as `cursor` for the next, older page; null on the last one.",
      },
      ...content.also,
    },
  };
}
