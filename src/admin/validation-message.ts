import { z } from "zod";
import { HttpError } from "./operation.ts";
import { NO_NUL } from "./page-schemas.ts";
import { shortened } from "./request-parameters.ts";

type Schema = z.core.JSONSchema.BaseSchema;

const PART_NAMES: Readonly<Record<string, string>> = {
  querystring: "query parameter",
  params: "parameter of the path",
  body: "field of the body",
};
const MAX_SHOWN_LENGTH = 60;

/** A parsed part of a request, or a 400 with the wrong value and the expected one. */
export function parseRequest(schema: z.ZodType, part: string, data: unknown) {
  const parsed = schema.safeParse(data);
  if (parsed.success) return { value: parsed.data };
  const { issues } = parsed.error;
  const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0];
  const message = messageOf(issue as z.core.$ZodIssue, schema, PART_NAMES[part] ?? part, data);
  return { error: new HttpError(400, message) };
}

function messageOf(issue: z.core.$ZodIssue, schema: z.ZodType, name: string, data: unknown): string {
  const { path, code } = issue;
  const field = (of: unknown, key: PropertyKey) => (of as Record<PropertyKey, unknown> | undefined)?.[key];
  const described = path.reduce(
    (of: Schema, key) => (withFields(of).properties?.[String(key)] ?? {}) as Schema,
    z.toJSONSchema(schema, { io: "input" }),
  );
  if (code === "unrecognized_keys") {
    const names = Object.keys(withFields(described).properties ?? {}).join(", ");
    return `there is no ${name} ${JSON.stringify(issue.keys[0])}; there are ${names}`;
  }
  const value = path.reduce(field, data);
  const place = path.join(".");
  if (value === undefined) return `the ${name} ${JSON.stringify(place)} is missing`;
  // A body may hold a secret, which no response repeats.
  const got = name === PART_NAMES.body ? "" : `got ${shortened(JSON.stringify(value), MAX_SHOWN_LENGTH)}, `;
  return `${place || "the body"}: ${got}expected ${expectation(described, code)}`;
}

/** A body that may be left out is one of two schemas. */
function withFields(schema: Schema): Schema {
  const options = (schema.anyOf ?? []) as readonly Schema[];
  return options.find(({ properties }) => properties !== undefined) ?? schema;
}

function expectation(schema: Schema, code: z.core.$ZodIssue["code"]): string {
  if (schema.enum !== undefined) return `one of ${schema.enum.join(", ")}`;
  if (schema.type === "integer") return `a whole number from ${schema.minimum} to ${schema.maximum}`;
  if (schema.type === "boolean") return "true or false";
  if (schema.type === "object") return "a JSON object";
  if (schema.format === "date-time") return "a time with its zone, such as 2026-03-04T12:00:00Z";
  const { minLength = 0, maxLength } = schema;
  if (code !== "invalid_format")
    return maxLength === undefined ? "a text" : `a text of ${minLength} to ${maxLength} characters`;
  if (schema.pattern === NO_NUL) return "a text without NUL characters";
  if (Array.isArray(schema.examples)) return `a value such as ${schema.examples.join(" or ")}`;
  const { description = `A text that matches ${schema.pattern}.` } = schema;
  return `${description.charAt(0).toLowerCase()}${description.slice(1).replace(/\.$/, "")}`;
}
