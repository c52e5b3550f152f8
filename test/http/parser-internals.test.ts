import { describe, expect, it } from "vitest";
import { assertParser } from "../../src/http/parser-internals.ts";

describe("the members of Node's HTTP parser that the connection guard relies on", () => {
  it("this Node's parser has all of them", () => {
    expect(() => assertParser()).not.toThrow();
  });

  it.each([
    ["socket.parser.onIncoming", { 0: function parserOnBody() {} }],
    ["parserOnBody of socket.parser", { onIncoming: () => 0, 0: function parserOnData() {} }],
  ])("a parser without %s is refused by name, with the version of Node", (member, parser) => {
    expect(() => assertParser(parser)).toThrow(
      `the HTTP parser of Node ${process.version} does not fit: there is no ${member}`,
    );
  });
});
