import { expect, it } from "vitest";
import { sourceWarnings } from "../../src/doctor/check-sources.ts";
import { appleAppStore, awsSns, ebay, googlePubSub, plaid } from "../../src/sources/platforms/index.ts";

const LIMITS = {
  maxUnverifiedBytes: 64 * 1024 * 1024,
  retention: { logDays: 30, recordDays: null, refusedBytes: 1, originalsMs: 0 },
};

it("the start names the sources whose platform signs for all its customers with one key and names none of them", () => {
  const definitions = {
    auctions: ebay({ verificationToken: "t".repeat(40), publicKeys: {} }),
    banks: plaid({ secret: "a secret of the account", clientId: "61e0ab1c2f3d4e0013c5a6b7" }),
    apps: appleAppStore({ bundleId: "com.example.app", appAppleId: 1 }),
    topics: awsSns({ topics: "arn:aws:sns:eu-central-1:123456789012:orders" }),
    pushes: googlePubSub({ serviceAccount: "push@project.iam.gserviceaccount.com" }),
  };
  const configured = Object.entries(definitions).map(([name, definition]) => ({ name, definition }));
  expect(sourceWarnings(LIMITS, configured)).toEqual([
    expect.stringMatching(/^sources\.auctions: eBay signs for all its customers with one key, .* that you know$/),
    expect.stringMatching(/^sources\.banks: Plaid signs for all its customers with one key, .*`item_id` that you have/),
  ]);
});
