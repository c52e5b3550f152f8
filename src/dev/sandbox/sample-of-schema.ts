import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/index.ts";

/** A schema may lead back to itself. */
const MAX_DEPTH = 12;

/** Samples of the common formats of JSON Schema. */
const FORMAT_SAMPLES: Readonly<Record<string, string>> = {
  "date-time": "2026-01-02T03:04:05Z",
  date: "2026-01-02",
  time: "03:04:05Z",
  duration: "PT1H",
  email: "user@example.com",
  uri: "https://example.com/",
  url: "https://example.com/",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uuid: "7f8b1c1e-0d55-4a5c-9c2b-3a1f5e6d7c80",
};

/**
 * A value for a JSON Schema, for a developer to change: the required fields, each as small as possible. It may not
 * satisfy a pattern or a rule beyond the schema.
 */
export function sampleOfSchema(schema: unknown): JsonValue {
  return sample(schema, isJsonObject(schema) ? schema : {}, 0);
}

function sample(described: unknown, root: JsonObject, depth: number): JsonValue {
  if (!isJsonObject(described) || depth > MAX_DEPTH) return null;
  const schema = resolved(described, root);
  const fixed = fixedValue(schema);
  if (fixed !== undefined) return fixed;
  const choices = [schema.anyOf, schema.oneOf].find(Array.isArray);
  if (choices !== undefined) {
    // Null is seldom what a developer wants to try first.
    const choice = choices.find((one) => isJsonObject(one) && one.type !== "null") ?? choices[0];
    return sample(choice, root, depth + 1);
  }
  if (Array.isArray(schema.allOf)) return sampleOfAll(schema, root, depth);
  switch (schemaType(schema)) {
    case "object":
      return objectOf(schema, root, depth);
    case "array":
      return arrayOf(schema, root, depth);
    case "integer":
    case "number":
      return numberOf(schema);
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return sampleText(schema);
  }
}

/** `#/$defs/name` and `#`: where a schema names itself or a part of it. */
function resolved(schema: JsonObject, root: JsonObject): JsonObject {
  const { $ref } = schema;
  if (typeof $ref !== "string" || !$ref.startsWith("#")) return schema;
  const steps = $ref.split("/").slice(1);
  const target = steps.reduce<unknown>(
    (part, step) => (isJsonObject(part) ? part[step.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined),
    root,
  );
  return isJsonObject(target) && target.$ref === undefined ? target : {};
}

function fixedValue({ examples, enum: values, ...schema }: JsonObject): JsonValue | undefined {
  const [first] = [examples, values].flatMap((list) => (Array.isArray(list) ? list.slice(0, 1) : []));
  return (schema.const ?? schema.default ?? first) as JsonValue | undefined;
}

function sampleOfAll({ allOf, ...rest }: JsonObject, root: JsonObject, depth: number): JsonValue {
  const values = [rest, ...[allOf].flat()].map((part) => sample(part, root, depth + 1));
  const objects = values.filter(isJsonObject);
  return objects.length > 0 ? Object.assign({}, ...objects) : (values.at(-1) ?? null);
}

function schemaType({ type, properties }: JsonObject): unknown {
  if (properties !== undefined) return "object";
  return Array.isArray(type) ? (type.find((one) => one !== "null") ?? "null") : type;
}

function objectOf({ properties, required }: JsonObject, root: JsonObject, depth: number): JsonObject {
  const names = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  const described = isJsonObject(properties) ? properties : {};
  return Object.fromEntries(names.map((name) => [name, sample(described[name], root, depth + 1)]));
}

function arrayOf({ items, prefixItems, minItems }: JsonObject, root: JsonObject, depth: number): JsonValue[] {
  const places: unknown[] = Array.isArray(prefixItems) ? [...prefixItems] : [];
  const least = typeof minItems === "number" ? Math.min(minItems, 100) : 0;
  while (places.length < least) places.push(items);
  return places.map((place) => sample(place, root, depth + 1));
}

function numberOf(schema: JsonObject): number {
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf } = schema;
  const step = typeof multipleOf === "number" && multipleOf > 0 ? multipleOf : 1;
  const bound = (value: unknown, none: number) => (typeof value === "number" ? value : none);
  const [atLeast, above] = [bound(minimum, -Infinity), bound(exclusiveMinimum, -Infinity)];
  const [atMost, below] = [bound(maximum, Infinity), bound(exclusiveMaximum, Infinity)];
  const fits = (value: number) => value >= atLeast && value > above && value <= atMost && value < below;
  const steps = [1, 0, Math.ceil(atLeast / step), Math.floor(above / step) + 1, Math.floor(atMost / step)];
  const between = (Math.max(atLeast, above) + Math.min(atMost, below)) / 2;
  return [...steps.map((count) => count * step), between].find(fits) ?? step;
}

function sampleText({ format, minLength, maxLength }: JsonObject): string {
  const text = (typeof format === "string" ? FORMAT_SAMPLES[format] : undefined) ?? "sample";
  const longEnough = typeof minLength === "number" ? text.padEnd(Math.min(minLength, 10_000), "x") : text;
  return typeof maxLength === "number" ? longEnough.slice(0, maxLength) : longEnough;
}
