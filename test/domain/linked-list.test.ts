import { describe, expect, it } from "vitest";
import { LinkedList } from "../../src/domain/index.ts";

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
