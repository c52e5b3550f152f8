import { describe, expect, it } from "vitest";
import { callbackLine } from "../../src/cli/listen.ts";
import { escapeControls, escapedJson, escapeLines, shortText, timeText } from "../../src/cli/output.ts";

const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index));

describe("what a terminal is shown", () => {
  it.each<[string, string[]]>([
    ["control characters, of eight bits too", [...range(0, 0x1f), ...range(0x7f, 0x9f)]],
    ["bidirectional embeddings, overrides and isolates", [...range(0x202a, 0x202e), ...range(0x2066, 0x2069)]],
    ["direction marks", ["\u200e", "\u200f", "\u061c"]],
    ["characters without a width", ["\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u034f"]],
    ["fillers and variation selectors", ["\u115f", "\u3164", "\uffa0", "\u2800", "\ufe0f", "\u{e0100}", "\u{e0041}"]],
    ["line and paragraph separators", ["\u2028", "\u2029"]],
    ["half of a surrogate pair", ["\ud800", "\udfff"]],
  ])("a terminal gets escapes for %s", (_, characters) => {
    for (const character of characters) {
      const codes = character.split("").map((unit) => unit.charCodeAt(0).toString(16).padStart(4, "0"));
      const escaped = codes.map((code) => `\\u${code}`).join("");
      expect(escapeControls(`a${character}b`)).toBe(`a${escaped}b`);
      expect(shortText(`a${character}b`)).toBe(`a${escaped}b`);
    }
  });

  it("a terminal gets every other text unchanged", () => {
    const text = "Zahlung für 東京 ₽ 😀 עברית العربية e\u0301 \u00a0 \\ #";
    expect([escapeControls(text), escapeLines(`${text}\n\t`)]).toEqual([text, `${text}\n\t`]);
  });

  it("a terminal gets the lines of a multi-line text, and a lone carriage return as an escape", () => {
    expect(escapeLines("one\n\ttwo\rthree\u001b[2J")).toBe("one\n\ttwo\\u000dthree\\u001b[2J");
  });

  it("a script gets the same JSON, whatever the text holds", () => {
    const value = { "\u202ekey": ["\u009b31m", "\u{e0041}", "\ud800", "\u2028", "a\tb\nc"] };
    const text = escapedJson(value, 2);
    expect(text).toMatch(/^[\x20-\x7e\n]+$/);
    expect(JSON.parse(text)).toEqual(value);
  });

  it("a line that listen prints of a callback holds no such character", () => {
    const body = Buffer.from(JSON.stringify({ event_id: "evt_\u202eb", event_type: "x" })).toString("base64");
    const request = { headers: ["X-Event-Type", "pay\u200bment"], body, received_at: "2026-01-01T00:00:00Z" };
    const line = callbackLine(request as never, { status: 200, durationMs: 1 } as never);
    expect(line).toContain("pay\\u200bment");
    expect(line).toContain("evt_\\u202eb");
  });
});

describe("a time in a table", () => {
  const now = new Date("2026-11-26T14:00:00.000Z");
  const text = (at: string | null) => timeText(at, { utc: true }, now);

  it("the time is of day for today, has the date for another day, and the year for another year", () => {
    expect(text("2026-11-26T00:20:40.123Z")).toBe("00:20:40Z");
    expect(text("2026-11-25T23:59:59.999Z")).toBe("11-25 23:59:59Z");
    expect(text("2025-11-26T00:20:40.123Z")).toBe("2025-11-26 00:20:40Z");
    expect(text(null)).toBe("");
  });

  it("the time is in the zone of this machine unless UTC is asked for", () => {
    const before = process.env.TZ;
    process.env.TZ = "Asia/Tokyo";
    try {
      expect(timeText("2026-11-26T00:20:40.123Z", {}, now)).toBe("09:20:40");
      expect(timeText("2026-11-26T15:20:40.123Z", {}, now)).toBe("11-27 00:20:40");
    } finally {
      process.env.TZ = before;
      if (before === undefined) delete process.env.TZ;
    }
  });
});
