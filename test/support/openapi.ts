import { readFileSync } from "node:fs";
import Ajv from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect } from "vitest";
import { getOrMake } from "../../src/domain/index.ts";

export const openapi = JSON.parse(readFileSync("docs/openapi.json", "utf8"));
const ajv = addFormats.default(new Ajv.default({ strict: false }));
ajv.addSchema(openapi, "openapi");
/** Compiled once each: Ajv knows them by their identity. */
const schemas = new Map<string, object>();

/** Holds an answer against the schema that the documented operation gives for its status. */
export function conforms(path: string, method: string, { status, body }: { status: number; body: unknown }): void {
  const pointer = (text: string) => text.replaceAll("~", "~0").replaceAll("/", "~1");
  const response = openapi.paths[path]?.[method]?.responses?.[String(status)];
  expect(response, `${method} ${path} ${status} is not documented`).toBeDefined();
  const ref = `openapi#/paths/${pointer(path)}/${method}/responses/${status}/content/application~1json/schema`;
  const schema = getOrMake(schemas, ref, () => ({ $ref: ref }));
  expect(ajv.validate(schema, body), ajv.errorsText()).toBe(true);
}
