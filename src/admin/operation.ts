import type { FastifySchema } from "fastify";
import type { Role } from "../store/index.ts";
import type { GuardRules } from "./access/guard-rules.ts";
import type { SHAPES } from "./shapes.ts";

type ShapeName = keyof typeof SHAPES;

/** What an operation answers: a shape by its name, a page of them, or a JSON Schema of its own. */
type Content =
  | ShapeName
  /** `also`: what the page has besides items and cursor, each with its JSON Schema. */
  | { readonly pageOf: ShapeName; readonly also?: Readonly<Record<string, object>> }
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
  readonly answers: Readonly<Record<number, { readonly says: string; readonly content?: Content }>>;
  /** For everybody, without a token or a session. */
  readonly isOpen?: true;
  /** Whatever `Host` says: for probes. */
  readonly anyHost?: true;
  /** Who may; left out, everybody may look and only operators may change things. */
  readonly role?: Role;
  /**
   * Under which the audit log has it, such as `failure.replay`. Everything but GET must have one. Its subject there are the
   * parameters of the path, and its detail those of the query.
   */
  readonly action?: string;
  /** Under which it has a request with `dry_run=true`, such as `failure.dry_run`. */
  readonly dryRunAction?: string;
  /** The fields of the body that the audit log keeps besides; none of them may hold a secret. */
  readonly told?: readonly string[];
}

/** The schema of a route, by which Fastify validates and from which the API's description is made. */
export function operation(described: Operation): FastifySchema {
  const { summary, description, answers, isOpen, anyHost, role, action, dryRunAction, told, ...inputs } =
    described;
  const guard = definedOf({ isOpen, anyHost, role, action, dryRunAction, told });
  const refusals = {
    ...(isOpen === true ? {} : CLOSED),
    ...(isOpen === true || action === undefined ? {} : CHANGING),
    ...(Object.keys(inputs).length === 0 ? {} : { 400: { says: "A parameter or the body is not valid." } }),
  };
  const response = Object.fromEntries(
    Object.entries({ ...refusals, ...answers }).map(([status, answer]) => [
      status,
      answerOf(Number(status), answer),
    ]),
  );
  return {
    summary,
    ...(description === undefined ? {} : { description }),
    ...(isOpen === true ? { security: [] } : {}),
    ...inputs,
    response,
    guard,
  };
}

const CLOSED = {
  401: { says: "Neither a valid token nor a session." },
  429: { says: "Too many wrong tokens came from this address; `Retry-After` says how long to wait." },
  503: { says: "The database does not answer." },
};
const CHANGING = {
  403: { says: "It needs the role operator, or was sent by another page than the receiver's own." },
  503: {
    says: "The audit log cannot be written just now, so nothing was done; or the database does not answer.",
  },
};

function definedOf(rules: { readonly [Name in keyof GuardRules]: GuardRules[Name] | undefined }): GuardRules {
  return Object.fromEntries(Object.entries(rules).filter(([, value]) => value !== undefined));
}

function answerOf(status: number, { says, content }: Operation["answers"][number]): object {
  if (status === 204) return { description: says, type: "null" };
  const schema = schemaOf(content ?? "Error");
  const { media = ["application/json"] } = typeof content === "object" && "schema" in content ? content : {};
  return { description: says, content: Object.fromEntries(media.map((type) => [type, { schema }])) };
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
