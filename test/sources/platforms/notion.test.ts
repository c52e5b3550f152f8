import { describe, expect, it } from "vitest";
import { notion } from "../../../src/sources/platforms/index.ts";
import { requestOf } from "../../support/contract.ts";
import { openSource } from "../../support/source.ts";

const TOKEN = "secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl";
const { contract } = openSource(notion({ secret: TOKEN }));

describe("the preset notion", () => {
  it("a source that has its token takes no other one from an unauthenticated sender", async () => {
    const response = await contract.challenge?.(requestOf({ verification_token: "secret_of_a_stranger" }));
    expect(response).toMatchObject({ kind: "refused", code: "handshake_invalid" });
  });

  it("a signed event with such a property is no handshake", () => {
    const headers = { "X-Notion-Signature": "sha256=00" };
    const body = { id: "1", type: "page.created", verification_token: "a" };
    expect(contract.challenge?.(requestOf(body, { headers }))).toBeUndefined();
    expect(contract.read(requestOf(body, { headers })).kind).toBe("event");
  });
});
