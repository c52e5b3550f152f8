import type { FastifyRequest } from "fastify";
import { NO_NUL } from "./request-parameters.ts";

interface Invalid {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: { readonly additionalProperty?: string; readonly missingProperty?: string };
}

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly description?: string;
  readonly examples?: readonly unknown[];
}

type Part = "querystring" | "params" | "body";

const PART_NAMES: Readonly<Record<Part, string>> = {
  querystring: "query parameter",
  params: "parameter of the path",
  body: "field of the body",
};
const MAX_SHOWN_LENGTH = 60;

/** What a request that does not fit its route's schema got wrong, and what was expected; undefined for any other error. */
export function validationMessage(error: unknown, request: FastifyRequest): string | undefined {
  const { validation = [], validationContext } = error as {
    validation?: readonly Invalid[];
    validationContext?: Part;
  };
  const first = validation.find(({ params }) => params.additionalProperty !== undefined) ?? validation[0];
  if (first === undefined || validationContext === undefined) return undefined;
  const path = first.instancePath.split("/").slice(1);
  const schema = schemaAt(request.routeOptions.schema?.[validationContext] as Schema | undefined, path);
  if (schema === undefined) return undefined;
  const { additionalProperty, missingProperty } = first.params;
  const known = Object.keys(schema.properties ?? {}).join(", ");
  const what = PART_NAMES[validationContext];
  if (additionalProperty !== undefined)
    return `there is no ${what} ${JSON.stringify(additionalProperty)}; there are ${known}`;
  if (missingProperty !== undefined)
    return `the ${what} ${JSON.stringify([...path, missingProperty].join("."))} is missing`;
  const value = valueAt(partOf(request, validationContext), path);
  const name = path.join(".") || "the body";
  return `${name}: ${gotText(value, validationContext)}expected ${expectation(schema, first.keyword)}`;
}

function partOf({ query, params, body }: FastifyRequest, part: Part): unknown {
  return { querystring: query, params, body }[part];
}

function schemaAt(schema: Schema | undefined, path: readonly string[]): Schema | undefined {
  return path.reduce((at: Schema | undefined, name) => at?.properties?.[name], schema);
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce(
    (at, name) => (typeof at === "object" && at !== null ? (at as Record<string, unknown>)[name] : undefined),
    value,
  );
}

/** A body may hold a secret, which no answer repeats. */
function gotText(value: unknown, part: Part): string {
  if (part === "body" || value === undefined) return "";
  const text = JSON.stringify(value);
  return `got ${text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text}, `;
}

function expectation(schema: Schema, keyword: string): string {
  if (schema.enum !== undefined) return `one of ${schema.enum.join(", ")}`;
  if (schema.type === "integer" || schema.type === "number") return numberText(schema);
  if (schema.type === "boolean") return "true or false";
  if (schema.type === "object") return "a JSON object";
  if (schema.format === "date-time") return "a time with its zone, such as 2026-03-04T12:00:00Z";
  if (keyword !== "pattern") return lengthText(schema);
  if (schema.pattern === NO_NUL) return "a text without NUL characters";
  if (schema.examples !== undefined) return `a value such as ${schema.examples.join(" or ")}`;
  return schema.description === undefined
    ? `a text that matches ${schema.pattern}`
    : lowered(schema.description);
}

function numberText({ type, minimum, maximum }: Schema): string {
  const kind = type === "integer" ? "a whole number" : "a number";
  if (minimum === undefined) return kind;
  return maximum === undefined ? `${kind} of at least ${minimum}` : `${kind} from ${minimum} to ${maximum}`;
}

function lengthText({ minLength = 0, maxLength }: Schema): string {
  if (maxLength === undefined)
    return minLength === 0 ? "a text" : `a text of at least ${minLength} characters`;
  return `a text of ${minLength} to ${maxLength} characters`;
}

/** A description reads on after a colon. */
function lowered(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1).replace(/\.$/, "")}`;
}
