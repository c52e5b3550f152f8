import type { StandardSchemaV1 } from "@standard-schema/spec";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { samplesOf } from "../../../src/dev/sandbox/index.ts";
import { createRegistry, type Handler, paymentNotify } from "../../../src/handlers/index.ts";
import { defineHandler } from "../../../src/index.ts";

const NOW = new Date("2026-03-04T12:00:00.900Z");
const handle = () => ({});

/** The `data` of each sample, by type and version. */
async function dataOf(builtIn: readonly Handler[], own: readonly Handler[]): Promise<Record<string, unknown>> {
  const samples = await samplesOf(createRegistry(builtIn, own), NOW);
  return Object.fromEntries(
    samples.map(({ event_type, version, sample }) => [`${event_type} ${version}`, sample.data]),
  );
}

describe("a sample of an event", () => {
  it("a sample is a complete body with an id of its own and the current time", async () => {
    const registry = createRegistry([paymentNotify], []);
    const [one, other] = await samplesOf(registry, NOW);
    expect(one?.sample).toMatchObject({ event_type: "payment_notify", timestamp: 1772625600 });
    expect(one?.sample.event_id).toMatch(/^evt_[0-9a-f-]{36}$/);
    const [again] = await samplesOf(registry, NOW);
    expect(new Set([one, other, again].map((each) => each?.sample.event_id)).size).toBe(3);
  });

  it("the sample is the built-in one only where the handler accepts it, version by version", async () => {
    const data = z.object({ invoice: z.string() });
    const own = defineHandler({ type: "payment_notify", versions: ["v2"], data, handle });
    expect(await dataOf([paymentNotify], [own])).toEqual({
      "payment_notify v1": { order_id: expect.any(String), amount: 49.9 },
      "payment_notify v2": { invoice: "sample" },
    });
  });

  it("a sample is empty where the schema has no JSON Schema, or throws while it makes one", async () => {
    const plain: StandardSchemaV1 = {
      "~standard": { version: 1, vendor: "us", validate: (value) => ({ value }) },
    };
    const broken = {
      "~standard": {
        ...plain["~standard"],
        jsonSchema: {
          input: () => {
            throw new Error("no words for it");
          },
        },
      },
    } as StandardSchemaV1;
    const own = [
      defineHandler({ type: "plain", versions: ["v1"], data: plain, handle }),
      defineHandler({ type: "broken", versions: ["v1"], data: broken, handle }),
    ];
    expect(await dataOf([], own)).toEqual({ "plain v1": {}, "broken v1": {} });
  });

  it("a sample omits what JSON does not have, and describes the rest", async () => {
    const data = z.object({ at: z.date(), name: z.string(), size: z.string().transform(Number) });
    const own = defineHandler({ type: "dated", versions: ["v1"], data, handle });
    expect(await dataOf([], [own])).toEqual({
      "dated v1": { at: expect.anything(), name: "sample", size: "sample" },
    });
  });
});
