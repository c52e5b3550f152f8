import { describe, expect, it } from "vitest";
import { DeadlineList, LinkedList } from "../../src/system/index.ts";

describe("a list of what lives as long as a request", () => {
  it("values stand in order of arrival, without those that have left", () => {
    const list = new LinkedList<string>();
    const entries = ["first", "second", "third", "fourth"].map((value) => list.add(value));
    list.remove(entries[0]!);
    list.remove(entries[2]!);
    list.add("fifth");
    expect([...list]).toEqual(["second", "fourth", "fifth"]);
  });

  it("an entry that is removed again changes nothing, whatever came after it", () => {
    const list = new LinkedList<string>();
    const gone = list.add("gone");
    list.remove(gone);
    list.add("stays");
    list.remove(gone);
    expect([list.first, [...list]]).toEqual(["stays", ["stays"]]);
  });

  it("an entry that has left points at no other one, so that it keeps none from being collected", () => {
    const list = new LinkedList<string>();
    const [, middle] = ["first", "middle", "last"].map((value) => list.add(value));
    list.remove(middle!);
    expect([middle!.previous, middle!.next]).toEqual([undefined, undefined]);
  });

  it("a list whose values have all left begins again", () => {
    const list = new LinkedList<string>();
    list.add("only");
    list.removeFirst();
    list.removeFirst();
    expect(list.first).toBeUndefined();
    list.add("next");
    expect([...list]).toEqual(["next"]);
  });
});

/** How many timers keep this process. */
const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

describe("a list of deadlines", () => {
  it("a list keeps the process only while something waits in it", () => {
    const before = timers();
    const list = new DeadlineList<string>(60_000, () => {}, true);
    const entry = list.add("first");
    const waiting = timers();
    list.remove(entry);
    const empty = timers();
    const second = list.add("second");
    const again = timers();
    list.remove(second);
    expect([waiting, empty, again, timers()].map((count) => count - before)).toEqual([1, 0, 1, 0]);
  });

  it("a list passes on what comes after the list was empty, although its timer was released", async () => {
    const late = Promise.withResolvers<string>();
    const list = new DeadlineList<string>(20, late.resolve, true);
    list.remove(list.add("in time"));
    list.add("late");
    expect(await late.promise).toBe("late");
  });
});
