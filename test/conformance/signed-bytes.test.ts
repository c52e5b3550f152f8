import { describe, expect, it } from "vitest";
import { DIALECTS, withStore } from "../support/databases.ts";

const NOW = new Date("2026-01-01T00:00:00.000Z");
const MANY = Array.from({ length: 150 }, (_, index) => `e${index}`);
const hashOf = (text: string) => Buffer.from(text).toString("hex").padEnd(64, "0");
const of = (eventId: string, source = "code") => ({ source, eventId });

describe.each(DIALECTS)("signed bytes on %s", (dialect) => {
  it("one of many events that bring the same bytes at once owns them", () =>
    withStore(dialect, async ({ signedBytes }) => {
      const owners = await Promise.all(MANY.map((id) => signedBytes.claim(of(id), hashOf("one"), NOW)));
      expect(new Set(owners).size).toBe(1);
      expect(MANY).toContain(owners[0]);
    }));

  it("each of many events that come together owns its own bytes", () =>
    withStore(dialect, async ({ signedBytes }) => {
      const owners = await Promise.all(MANY.map((id) => signedBytes.claim(of(id), hashOf(id), NOW)));
      expect(owners).toEqual(MANY);
    }));

  it("bytes stay those of the event that came first, whichever others come with the next", () =>
    withStore(dialect, async ({ signedBytes }) => {
      await Promise.all(MANY.slice(0, 50).map((id) => signedBytes.claim(of(id), hashOf(id), NOW)));
      const copies = MANY.map((id) => signedBytes.claim(of(`copy-${id}`), hashOf(id), NOW));
      const owners = MANY.map((id, index) => (index < 50 ? id : `copy-${id}`));
      expect(await Promise.all(copies)).toEqual(owners);
    }));

  it("an event that brings its bytes again owns them still", () =>
    withStore(dialect, async ({ signedBytes }) => {
      const claim = () => signedBytes.claim(of("e1"), hashOf("one"), NOW);
      expect(await Promise.all([claim(), claim()])).toEqual(["e1", "e1"]);
      expect(await claim()).toBe("e1");
    }));

  it("the same bytes of two sources are of an event each", () =>
    withStore(dialect, async ({ signedBytes }) => {
      const claims = ["code", "shop"].map((source) =>
        signedBytes.claim(of(`of-${source}`, source), hashOf("one"), NOW),
      );
      expect(await Promise.all(claims)).toEqual(["of-code", "of-shop"]);
    }));
});
