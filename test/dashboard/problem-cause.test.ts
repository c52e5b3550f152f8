import { expect, it } from "vitest";
import { problemCause } from "../../dashboard/src/parts/problem-cause.ts";

const FAILURE = { kind: "failure", source: "shop", event_type: "order", code: "handler_failed" };

it("a failed event has its type, and its handler where that has a name", () => {
  const causes = ["order of shop failed: Error: no row", "order of shop#audit failed: Error: no row"].map((title) =>
    problemCause({ ...FAILURE, title }),
  );
  expect(causes).toEqual([
    { what: "order", why: "Error: no row" },
    { what: "order (audit)", why: "Error: no row" },
  ]);
});
