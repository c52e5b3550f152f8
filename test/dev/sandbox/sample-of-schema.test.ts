import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { sampleOfSchema } from "../../../src/dev/sandbox/sample-of-schema.ts";

const schemaOf = (schema: z.ZodType) => z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });

const node: z.ZodType = z.object({
  name: z.string(),
  get children() {
    return z.array(node);
  },
});

describe("a sample made from a JSON Schema", () => {
  it.each<[string, z.ZodType]>([
    ["texts", z.object({ a: z.string(), b: z.string().min(12), c: z.string().max(3) })],
    ["numbers", z.object({ a: z.number(), b: z.int().min(7), c: z.number().positive(), d: z.number().gt(0).lt(1) })],
    [
      "numbers of steps",
      z.object({ a: z.int().multipleOf(5), b: z.number().multipleOf(0.5).min(2), c: z.number().max(-3) }),
    ],
    ["choices", z.object({ a: z.enum(["x", "y"]), b: z.literal(4), c: z.boolean(), d: z.null() })],
    [
      "what may be null or left out",
      z.object({ a: z.string().nullable(), b: z.string().optional(), c: z.string().default("c") }),
    ],
    ["formats", z.object({ a: z.email(), b: z.uuid(), c: z.url(), d: z.iso.datetime(), e: z.iso.date(), f: z.ipv4() })],
    ["lists", z.object({ a: z.array(z.int()).min(2), b: z.array(z.string()), c: z.tuple([z.string(), z.int()]) })],
    ["objects in objects", z.object({ a: z.object({ b: z.object({ c: z.string() }) }) })],
    [
      "unions",
      z.object({
        a: z.union([z.int(), z.string()]),
        b: z.discriminatedUnion("k", [z.object({ k: z.literal("x"), n: z.int() })]),
      }),
    ],
    ["both of two", z.object({ a: z.intersection(z.object({ b: z.string() }), z.object({ c: z.int() })) })],
    ["maps and anything", z.object({ a: z.record(z.string(), z.int()), b: z.unknown(), c: z.json() })],
    ["a schema that leads back to itself", z.object({ tree: node })],
  ])("the schema accepts the sample: %s", (_title, schema) => {
    const { error } = schema.safeParse(sampleOfSchema(schemaOf(schema)));
    expect(error?.message).toBeUndefined();
  });

  it("a sample has the required fields, and no other", () => {
    const schema = z.object({ must: z.string(), may: z.string().optional() });
    expect(sampleOfSchema(schemaOf(schema))).toEqual({ must: "sample" });
  });

  it("a sample is the example that the schema gives", () => {
    const schema = z.object({ id: z.string().meta({ examples: ["parcel-1"] }) });
    expect(sampleOfSchema(schemaOf(schema))).toEqual({ id: "parcel-1" });
  });

  it("a sample ends with circular references", () => {
    const list = {
      type: "object",
      properties: { next: { $ref: "#" }, self: { $ref: "#/$defs/a" } },
      required: ["next", "self"],
      $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } },
    };
    expect(JSON.stringify(sampleOfSchema(list)).length).toBeLessThan(2_000);
  });

  it("a sample is serializable as JSON, whatever the schema is", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (schema) => {
        const made = sampleOfSchema(schema);
        expect(JSON.parse(JSON.stringify(made))).toEqual(made);
      }),
    );
  });
});
