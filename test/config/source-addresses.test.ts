import { describe, expect, it } from "vitest";
import { ConfigError, loadConfig } from "../../src/config/index.ts";
import { github, stripe } from "../../src/sources/platforms/index.ts";
import { BASE } from "../support/configuration.ts";

/** A path with parameters needs a secret for each tenant. */
function at(path?: string) {
  if (path === undefined) return github({ secret: "secret" });
  return github({ path, secret: path.includes("/:") ? () => "secret" : "secret" });
}

function problems(sources: Record<string, ReturnType<typeof github>>, env: Record<string, string> = {}) {
  try {
    loadConfig({ ...BASE, ...env }, { sources });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

describe("the addresses of sources", () => {
  it.each([
    ["/api/b/callback", "/api/b/callback is an address of the source b as well"],
    ["/api/v2/b/callback", "/api/v2/b/callback is an address of the source b as well"],
    ["/api/platform/callback", "/api/platform/callback is an address of the source platform as well"],
    ["/api/v1/platform/callback", "/api/v1/platform/callback is an address of the source platform as well"],
    ["/api/platform/oauth-callback", "/api/platform/oauth-callback is an address of Oncehook itself as well"],
    ["/api/platform/oauth-start", "/api/platform/oauth-start is an address of Oncehook itself as well"],
    ["/api/platform/oauth-done", "/api/platform/oauth-done is an address of Oncehook itself as well"],
    ["/_oncehook/captured", "/_oncehook/captured is an address of Oncehook itself as well"],
    ["/api/:shop/callback", "/api/:shop/callback overlaps /api/platform/callback of the source platform"],
    ["/:a/:b", "/:a/:b overlaps /_oncehook/captured of Oncehook itself"],
  ])("a chosen path that takes another address is refused: %s", (path, what) => {
    expect(problems({ a: at(path), b: at() })).toEqual([`sources.a.path: ${what}; choose another path`]);
  });

  it.each([
    ["/hooks/b", "/hooks/b", "/hooks/b is an address of the source a as well"],
    ["/hooks/:x", "/hooks/b", "/hooks/b overlaps /hooks/:x of the source a"],
    ["/hooks/b", "/hooks/:x", "/hooks/:x overlaps /hooks/b of the source a"],
    ["/hooks/:x", "/hooks/:y", "/hooks/:y overlaps /hooks/:x of the source a"],
    ["/:x/in", "/hooks/:y", "/hooks/:y overlaps /:x/in of the source a"],
  ])("the later one of two paths for the same request is refused: %s and %s", (one, other, what) => {
    expect(problems({ a: at(one), b: at(other) })).toEqual([`sources.b.path: ${what}; choose another path`]);
  });

  it.each([
    ["/hooks/:x", "/hooks/b/in"],
    ["/hooks/:x/in", "/hooks/b/out"],
    ["/api/b/callback", "/b"],
  ])("paths that no request fits both are accepted: %s and %s", (one, other) => {
    expect(problems({ a: at(one), b: at(other) })).toEqual([]);
  });

  it("the address of a preset of SOURCES and the OAuth address of OAUTH_SCOPE_PATH are taken as well", () => {
    const env = { SOURCES: "stripe", STRIPE_SECRET: "whsec_of_a_test", OAUTH_SCOPE_PATH: "shop" };
    const sources = {
      a: at("/api/stripe/callback"),
      b: stripe({ secret: "x", path: "/api/shop/oauth-done" }),
    };
    expect(problems(sources, env)).toEqual([
      "sources.a.path: /api/stripe/callback is an address of the source stripe as well; choose another path",
      "sources.b.path: /api/shop/oauth-done is an address of Oncehook itself as well; choose another path",
    ]);
  });

  it("a preset that SOURCES names twice is refused", () => {
    expect(problems({}, { SOURCES: "stripe,stripe", STRIPE_SECRET: "whsec_of_a_test" })).toEqual([
      "SOURCES: names stripe twice",
    ]);
  });
});
