import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { namedBlocks } from "../support/doc-blocks.ts";

it("the handlers typed by the platforms' SDKs in docs/handlers.md are those that npm run test:platforms compiles and runs", () => {
  expect(namedBlocks("docs/handlers.md").get("platform-types")).toBe(readFileSync("interop/typed-handlers.ts", "utf8"));
});
