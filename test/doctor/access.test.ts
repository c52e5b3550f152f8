import { describe, expect, it } from "vitest";
import { checkAccess } from "../../src/doctor/run-doctor.ts";
import { CLIENT, withOidcPlatform } from "../support/oidc-platform.ts";
import { testConfig } from "../support/receiver.ts";

const findingsFor = (env: Record<string, string>) =>
  checkAccess(testConfig({ dialect: "sqlite", url: "sqlite:./none.db" }, env));
const withProvider = (issuer: string) => ({
  ADMIN_BASE_URL: "https://admin.example.com",
  ADMIN_OIDC_ISSUER: issuer,
  ADMIN_OIDC_CLIENT_ID: CLIENT.id,
  ADMIN_OIDC_CLIENT_SECRET: CLIENT.secret,
  ADMIN_OIDC_VIEWERS: "vera@example.com",
});

describe("doctor", () => {
  it("doctor names the address that the operators' provider must have registered", () =>
    withOidcPlatform({ redirectUris: ["https://admin.example.com/sign-in/oidc/callback"] }, async ({ issuer }) => {
      expect(await findingsFor(withProvider(issuer))).toEqual([
        {
          level: "ok",
          check: "admin access",
          message: "register this redirect address with the provider: https://admin.example.com/sign-in/oidc/callback",
        },
      ]);
    }));

  it("doctor fails where the operators' provider cannot be discovered", async () => {
    const [finding] = await findingsFor(withProvider("http://127.0.0.1:1"));
    expect(finding).toMatchObject({
      level: "failure",
      message: expect.stringContaining("ADMIN_OIDC_ISSUER: http://127.0.0.1:1 cannot be discovered"),
    });
  });

  it("doctor finds nothing to check where the token is the only sign-in", async () => {
    expect(await findingsFor({})).toMatchObject([{ level: "ok" }]);
  });
});
