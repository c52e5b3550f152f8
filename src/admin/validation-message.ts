import { NO_NUL } from "./request-parameters.ts";

interface Schema {
  readonly type?: string;
  readonly properties?: object;
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

interface Invalid {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: { readonly additionalProperty?: string; readonly missingProperty?: string };
  /** Of the value, or of the object whose fields are wrong. */
  readonly parentSchema: Schema;
  readonly data: unknown;
}

const PART_NAMES = {
  querystring: "query parameter",
  params: "parameter of the path",
  body: "field of the body",
} as const;
type Part = keyof typeof PART_NAMES;
const MAX_SHOWN_LENGTH = 60;

/** What a request that does not fit its route's schema got wrong, and what was expected; undefined for any other error. */
export function validationMessage(error: unknown): string | undefined {
  const { validation = [], validationContext: part } = error as {
    validation?: readonly Invalid[];
    validationContext?: Part;
  };
  const first = validation.find(({ params }) => params.additionalProperty !== undefined) ?? validation[0];
  if (first === undefined || part === undefined) return undefined;
  const { params, parentSchema, keyword, data } = first;
  const path = first.instancePath.split("/").slice(1);
  const { additionalProperty, missingProperty } = params;
  if (additionalProperty !== undefined) {
    const known = Object.keys(parentSchema.properties ?? {}).join(", ");
    return `there is no ${PART_NAMES[part]} ${JSON.stringify(additionalProperty)}; there are ${known}`;
  }
  if (missingProperty !== undefined)
    return `the ${PART_NAMES[part]} ${JSON.stringify([...path, missingProperty].join("."))} is missing`;
  return `${path.join(".") || "the body"}: ${gotText(data, part)}expected ${expectation(parentSchema, keyword)}`;
}

/** A body may hold a secret, which no answer repeats. */
function gotText(value: unknown, part: Part): string {
  if (part === "body" || value === undefined) return "";
  const text = JSON.stringify(value);
  return `got ${text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text}, `;
}

function expectation(schema: Schema, keyword: string): string {
  if (schema.enum !== undefined) return `one of ${schema.enum.join(", ")}`;
  if (schema.type === "integer") return `a whole number from ${schema.minimum} to ${schema.maximum}`;
  if (schema.type === "boolean") return "true or false";
  if (schema.type === "object") return "a JSON object";
  if (schema.format === "date-time") return "a time with its zone, such as 2026-03-04T12:00:00Z";
  const { minLength = 0, maxLength } = schema;
  if (keyword !== "pattern")
    return maxLength === undefined ? "a text" : `a text of ${minLength} to ${maxLength} characters`;
  if (schema.pattern === NO_NUL) return "a text without NUL characters";
  if (schema.examples !== undefined) return `a value such as ${schema.examples.join(" or ")}`;
  const { description = `A text that matches ${schema.pattern}.` } = schema;
  return `${description.charAt(0).toLowerCase()}${description.slice(1).replace(/\.$/, "")}`;
}
