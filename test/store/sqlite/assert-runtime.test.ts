import { expect, it } from "vitest";
import { assertRuntime } from "../../../src/store/sqlite/assert-runtime.ts";

it("a store on SQLite under a Node without an authorizer is refused, with what to use instead", () => {
  const refused = () => assertRuntime({}, "v22.23.3");
  expect(refused).toThrow(
    /^SQLite needs Node 24\.10 or newer, or Bun; use one of them, or PostgreSQL.* v22\.23\.3 has no/,
  );
});
