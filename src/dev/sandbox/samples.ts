import { randomUUID } from "node:crypto";
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { isJsonObject, type JsonObject, PLATFORM, VERSIONS, type Version } from "../../domain/index.ts";
import { type Registry, SharedTimeLimit, validateData } from "../../handlers/index.ts";
import { sampleOfSchema } from "./sample-of-schema.ts";

export interface Sample {
  readonly event_type: string;
  readonly version: Version;
  readonly sample: JsonObject;
}

const TIME_LIMIT_MS = 1_000;

/** One for each type in each version, with a new id and the current time. */
export async function samplesOf({ types, find }: Registry, now: Date): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (const type of types.toSorted()) {
    for (const version of VERSIONS) {
      const handler = find(PLATFORM, version, type);
      if (handler === undefined) continue;
      const data = await dataFor(type, handler.data);
      const timestamp = Math.floor(now.getTime() / 1000);
      const sample = { event_id: `evt_${randomUUID()}`, event_type: type, timestamp, data };
      samples.push({ event_type: type, version, sample });
    }
  }
  return samples;
}

/**
 * Data that the schema of a handler may take. A user's handler may replace a built-in one, so that the built-in sample counts only
 * if the schema takes it.
 */
export async function dataFor(type: string, schema: StandardSchemaV1): Promise<JsonObject> {
  const usual = sampleData(type);
  if (usual !== undefined && (await fits(schema, usual))) return usual;
  const made = sampleOfSchema(jsonSchemaOf(schema));
  return isJsonObject(made) ? made : {};
}

async function fits(schema: StandardSchemaV1, data: JsonObject): Promise<boolean> {
  try {
    return "value" in (await validateData(schema, data, new SharedTimeLimit(TIME_LIMIT_MS)));
  } catch {
    // A schema that throws, or waits for a silent service, fails in the callback too, and reports it there.
    return false;
  }
}

/** Undefined where the library does not offer Standard JSON Schema, or cannot describe this schema. */
function jsonSchemaOf(schema: StandardSchemaV1): unknown {
  const { jsonSchema } = schema["~standard"] as Partial<StandardJSONSchemaV1.Props>;
  try {
    // By default Zod throws for types that JSON does not have; other libraries ignore this option.
    return jsonSchema?.input({ target: "draft-2020-12", libraryOptions: { unrepresentable: "any" } });
  } catch {
    return undefined;
  }
}

/** Plausible `data` for the built-in types, for `send` without `--data`, the demo and the sandbox. */
export function sampleData(type: string): JsonObject | undefined {
  const id = randomUUID().slice(0, 8);
  switch (type) {
    case "user_authorized":
      return { code: `code-${id}`, user_id: `user-${id}` };
    case "payment_notify":
      return { order_id: `order-${id}`, amount: 49.9 };
    case "webhook_message":
      return { message: `Hello from ${id}` };
    default:
      return undefined;
  }
}
