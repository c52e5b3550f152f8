import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { messageOf } from "../../src/alerts/messages.ts";

const SINCE = new Date("2026-01-01T00:00:00.000Z");
const KEYS = [
  { kind: "failures", source: "platform", subject: "payment_notify" },
  { kind: "accepted", source: "stripe", subject: "" },
  { kind: "signatures", source: "platform", subject: "" },
  { kind: "silence", source: "platform", subject: "payment_notify" },
] as const;

/** The anchors of the headings in docs/monitoring.md. */
const docs = readFileSync("docs/monitoring.md", "utf8");
const anchors = [...docs.matchAll(/^#### (.+)$/gm)].map(([, title = ""]) => title.toLowerCase().replace(/[^\w-]/g, ""));

describe.each(KEYS)("the message of an alert: $kind", (key) => {
  it("the message names its source, its remedy and its section of docs/monitoring.md", () => {
    const { topic, payload } = messageOf(key, "started", SINCE, 3);
    expect(docs).toContain(`| \`${topic}\` |`);
    expect(payload).toMatchObject({ state: "started", source: key.source, since: SINCE.toISOString() });
    expect(String(payload.message).length).toBeGreaterThan(60);
    const [file, anchor] = String(payload.see).split("#");
    expect(file).toBe("docs/monitoring.md");
    expect(anchors).toContain(anchor);
  });

  it("the message ends its topic with .resolved when the alert is resolved, since the topic is the subject of a mail", () => {
    const { topic } = messageOf(key, "started", SINCE, 1);
    expect(messageOf(key, "resolved", SINCE, 0)).toMatchObject({
      topic: `${topic}.resolved`,
      payload: { state: "resolved" },
    });
  });
});

describe("the example in docs/monitoring.md", () => {
  it("the example is the message of three exhausted failures, shortened", () => {
    const [, block = ""] = /```json\n([\s\S]*?)```/.exec(docs) ?? [];
    const example = JSON.parse(block) as { type: string; data: Record<string, unknown> };
    const { topic, payload } = messageOf(KEYS[0], "started", SINCE, 3);
    const { message: shown, ...others } = example.data;
    expect(example.type).toBe(topic);
    const { message: whole, ...rest } = payload;
    expect(others).toEqual(rest);
    expect(String(whole).startsWith(String(shown).replace(" …", ""))).toBe(true);
  });
});
