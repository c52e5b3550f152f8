import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Handler } from "../../src/handlers/index.ts";
import { event } from "../support/receiver.ts";
import { withTraced } from "../support/traced-receiver.ts";

const docs = await readFile("docs/monitoring.md", "utf8");

/** The example as a module of a project that has Oncehook installed. */
async function exampleHandler(): Promise<Handler> {
  const [, block = ""] = /```ts\n([\s\S]*?)```/.exec(docs) ?? [];
  const folder = await mkdtemp(join(process.cwd(), "test", "traces-example-"));
  try {
    await writeFile(join(folder, "order-placed.ts"), block);
    return (await import(join(folder, "order-placed.ts"))).default;
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe("docs/monitoring.md", () => {
  it("docs/monitoring.md names every variable of OpenTelemetry that the configuration reads", async () => {
    const source = await readFile("src/config/tracing.ts", "utf8");
    const read = [...source.matchAll(/"(OTEL_[A-Z_]+)"/g)].map(([, name]) => String(name));
    expect(read.length).toBeGreaterThan(15);
    expect(read.filter((name) => !docs.includes(`\`${name}\``))).toEqual([]);
  });

  it("the example handler of docs/monitoring.md makes its span a child of the handler's span", async () => {
    const handler = await exampleHandler();
    await withTraced(
      "sqlite",
      async (receiver, collector) => {
        expect((await receiver.send(event("order_placed", { order_id: "o1" }))).status).toBe(200);
        const { span } = await collector.trace("POST /api/platform/callback");
        expect(span("price the order").parentSpanId).toBe(span("handler order_placed").spanId);
      },
      { handlers: [handler] },
    );
  });
});
