import { expect, it } from "vitest";
import { stripe } from "../../src/sources/platforms/index.ts";
import { withStoreBeside } from "../support/beside.ts";
import { WEBHOOK_SECRET } from "../support/notified.ts";
import { payment, TOKEN } from "../support/receiver.ts";
import { expectShown, signIn, withDashboard } from "./dashboard.ts";

const LIMIT_MS = 180_000;
const VIEWER = "a-token-for-those-who-may-look";
const SECRET = "whsec_of-a-source-of-the-tests";
const KEY = { kind: "failures", source: "billing", subject: "invoice.paid" } as const;
const OPTIONS = {
  env: { ADMIN_VIEWER_TOKEN: VIEWER, RETRY_MAX: "7" },
  sources: { billing: stripe({ secret: SECRET, keep: "90d" }) },
};
/** Its only channel may not be reached, and no evaluation changes the alert. */
const WITH_CHANNEL = {
  env: {
    ...OPTIONS.env,
    ALERTS: "off",
    NOTIFY_WEBHOOK_URL: "http://127.0.0.1:9/hook",
    NOTIFY_WEBHOOK_SECRET: WEBHOOK_SECRET,
    NOTIFY_ATTEMPTS: "1",
  },
  outboxPollMs: 20,
};
const MESSAGE = {
  topic: "alert.failure_exhausted",
  payload: { source: "billing", event_type: "invoice.paid", title: "Events failed", message: "3 events failed" },
};

it(
  "the configuration shows what is set with its origin, finds a line of all, and shows no secret",
  {
    timeout: LIMIT_MS,
  },
  () =>
    withDashboard(async ({ page, problems }) => {
      await page.goto("/settings");
      await signIn(page);
      const row = (name: string) => page.getByRole("row", { name });
      await expectShown(row("RETRY_MAX"));
      // The usual origin is named once, and any other in its row.
      await expectShown(page.getByText("Environment variables, where no other origin is named"));
      expect(await row("RETRY_MAX").getByRole("cell").allTextContents()).toEqual(["RETRY_MAX", "7"]);
      expect(await row("sources.billing.keep").getByRole("cell").allTextContents()).toEqual([
        ...["sources.billing.keep", "90d Configuration file"],
      ]);
      await expectShown(row("sources.billing.secret").getByText("secret", { exact: false }).last());
      expect(await row("HANDLER_TIMEOUT_MS").count()).toBe(0);
      await page.getByRole("button", { name: "All", exact: true }).click();
      await page.getByLabel("Find a variable").fill("handler_time");
      expect(await row("HANDLER_TIMEOUT_MS").getByRole("cell").allTextContents()).toEqual([
        ...["HANDLER_TIMEOUT_MS", "10000 Default"],
      ]);
      expect(await row("RETRY_MAX").count()).toBe(0);
      // The address has both, so that it can be shared.
      await page.reload();
      await expectShown(row("HANDLER_TIMEOUT_MS"));
      await page.getByLabel("Find a variable").fill("");
      const text = await page.locator("main").textContent();
      expect([TOKEN, VIEWER, SECRET].filter((secret) => text?.includes(secret))).toEqual([]);
      expect(problems).toEqual([]);
    }, OPTIONS),
);

it("the checks run at a click, the worst first, and stay for the next one who looks", { timeout: LIMIT_MS }, () =>
  withDashboard(async ({ page, receiver, problems }) => {
    for (let sent = 0; sent < 12; sent += 1) await receiver.send(payment());
    for (let sent = 0; sent < 20; sent += 1) await receiver.send(payment(), { secret: "z".repeat(32) });
    await receiver.admin("/api/v1/problems");
    // What has happened is not in the future, although the clock of this browser is behind.
    await page.clock.setFixedTime(Date.now() - 60_000);
    await page.goto("/settings/checks");
    await signIn(page);
    await expectShown(page.getByText("npx oncehook doctor"));
    await page.getByRole("button", { name: "Run checks" }).click();
    await expectShown(page.getByText(/^\d+ checks? failed, \d+ warnings?, \d+ OK\. Ran .* \(now\) by /));
    const levels = await page.locator(".check-rows .outcome").allTextContents();
    const order = ["Failure", "Warning", "OK"];
    expect(levels).toEqual(levels.toSorted((one, other) => order.indexOf(one) - order.indexOf(other)));
    // Times, codes and addresses are shown as everywhere, and a warning leads to its problem.
    const refused = page.getByRole("row", { name: /platform: 20 callbacks refused \(signature mismatch\)/ });
    await expectShown(refused.locator("time"));
    // What to do is a line of its own, with the address that it means.
    await expectShown(refused.locator(".check-remedy").getByText(/^Compare /));
    await expectShown(refused.locator(".check-remedy").getByText(/\/api\/platform\/callback$/));
    const link = refused.getByRole("link", { name: "View problem" });
    expect(await link.getAttribute("href")).toMatch(/\/problems\?kind=refusal&source=platform$/);
    // The good ones are one line until the reader asks for them.
    const addresses = page.locator(".good-checks .check-address");
    expect(await addresses.first().isVisible()).toBe(false);
    await page.getByText(/^\d+ checks OK$/).click();
    await expectShown(addresses.first());
    await page.reload();
    await expectShown(page.getByText(/Ran .* by Admin token\. 1 open problem$/));
    await page.getByText(/^\d+ checks OK$/).click();
    await expectShown(page.getByRole("cell", { name: "Database", exact: true }).first());
    expect(problems).toEqual([]);
  }, OPTIONS),
);

it("storage shows what is stored and how long, and background work its rounds", { timeout: LIMIT_MS }, () =>
  withDashboard(async ({ page, receiver, problems }) => {
    await receiver.send(payment());
    await page.goto("/settings/storage");
    await signIn(page);
    await expectShown(page.getByRole("row", { name: /^Callback log 1 / }));
    await expectShown(page.getByRole("row", { name: "billing 90 days" }));
    // The bars are parts of the whole.
    const widths = "[...document.querySelectorAll('.share > span')].map(({ style }) => parseFloat(style.width))";
    const shares = (await page.evaluate(widths)) as number[];
    expect(shares.reduce((sum, width) => sum + width, 0)).toBeCloseTo(100, 0);
    // All parts together are the database.
    const [size, total] = await Promise.all([
      page.locator(".fact", { hasText: "Size" }).locator("dd").textContent(),
      page
        .getByRole("row", { name: /^Total / })
        .locator(".number")
        .textContent(),
    ]);
    expect(total).toBe(size);
    await expectShown(page.getByText("Last sweep"));
    await page.getByRole("link", { name: "Background work" }).click();
    await expectShown(page.getByRole("row", { name: /^Retention Waiting .* 1 hour / }));
    await expectShown(page.getByRole("row", { name: /^Bulk replays No round yet / }));
    await expectShown(page.getByRole("row", { name: /^Re-encryption|^Alerts Off / }));
    expect(problems).toEqual([]);
  }, OPTIONS),
);

it(
  "an alert shows that its channel failed, is muted in two clicks until a time, and the mute can be ended",
  {
    timeout: LIMIT_MS,
  },
  () =>
    withDashboard(async ({ page, receiver, problems }) => {
      const since = new Date();
      await withStoreBeside(receiver.target, ({ alerts }) =>
        alerts.change({ ...KEY, from: 0, isOpen: true, since, notifiedCount: 3, notifiedAt: since, message: MESSAGE }),
      );
      await page.goto("/settings/alerts");
      await signIn(page);
      // The operator sees that the alert reached no one, and why.
      await expectShown(page.getByText("Alerts are not being delivered", { exact: true }));
      const sent = page.getByRole("row", { name: /^Open .* webhook, not delivered .*127\.0\.0\.1/ });
      expect(await sent.getByRole("link", { name: "webhook, not delivered" }).getAttribute("href")).toMatch(
        /\/problems\?kind=delivery&source=webhook$/,
      );
      // The problem has the alert in words, and the host of the channel without the rest of its address.
      await sent.getByRole("link", { name: "webhook, not delivered" }).click();
      await page.locator(".problem-row .cell-what").click();
      const problem = page.getByRole("complementary", { name: "Problem" });
      await expectShown(problem.getByText("127.0.0.1:9", { exact: true }));
      expect(await problem.textContent()).not.toContain("/hook");
      await problem.getByRole("link", { name: "Alert: Failed events, billing invoice.paid" }).click();
      // Each kind says whether it is on, when it last started, when it starts, and how it is switched on.
      await expectShown(
        page.getByRole("row", { name: /^Off Failed events .* \d\d:\d\d An event of a type has failed / }),
      );
      await expectShown(page.getByRole("row", { name: /^Off Accepted events Never .* more than 5 minutes\. / }));
      await expectShown(page.getByText("ALERTS=failures,accepted,signatures,silence"));
      await page.getByRole("button", { name: "Mute" }).click();
      await page.getByRole("button", { name: "For 8 hours" }).click();
      await expectShown(page.getByRole("row", { name: /^Muted .* by Admin token: muted on the dashboard/ }));
      await page.getByRole("button", { name: "Unmute" }).click();
      await expectShown(page.getByRole("row", { name: /^Open Failed events .* billing invoice\.paid/ }));
      await page.getByRole("link", { name: "Audit log" }).click();
      await expectShown(page.getByRole("row", { name: / Unmute alert Failed events, billing invoice\.paid / }));
      await page.getByRole("button", { name: "Action", exact: true }).click();
      await page.getByRole("textbox", { name: "Action" }).fill("alert.mute");
      await page.keyboard.press("Enter");
      await page.waitForURL(/action=alert\.mute/);
      await expect.poll(() => page.getByRole("cell", { name: "Unmute alert" }).count()).toBe(0);
      await expectShown(page.getByRole("cell", { name: "Admin token, operator" }));
      expect(problems).toEqual([]);
    }, WITH_CHANNEL),
);

it("a viewer sees all settings and no button that writes", { timeout: LIMIT_MS }, () =>
  withDashboard(async ({ page, receiver, problems }) => {
    const since = new Date();
    await withStoreBeside(receiver.target, ({ alerts }) =>
      alerts.change({ ...KEY, from: 0, isOpen: true, since, notifiedCount: 3, notifiedAt: since }),
    );
    await page.goto("/settings");
    await signIn(page, VIEWER);
    for (const name of ["Checks", "Storage", "Background work", "Alerts", "Audit log", "Configuration"]) {
      await page.getByRole("navigation", { name: "Pages of this place" }).getByRole("link", { name }).click();
      await expectShown(page.getByRole("heading", { level: 1, name }));
      await page.getByText(/^Reading /).waitFor({ state: "hidden" });
      expect(await page.getByRole("button", { name: /^(?:Run checks|Mute|Unmute)/ }).count()).toBe(0);
    }
    await page.locator(".session").click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.waitForURL(/\/sign-in/);
    expect(problems).toEqual([]);
  }, OPTIONS),
);

it("the address of the audit log in earlier versions leads to it, with its filter", { timeout: LIMIT_MS }, () =>
  withDashboard(async ({ page }) => {
    await page.goto("/audit?action=session.begin");
    await signIn(page);
    await page.waitForURL(/\/settings\/audit\?action=session\.begin/);
    await expectShown(page.getByRole("cell", { name: "Sign in", exact: true }).first());
  }),
);
