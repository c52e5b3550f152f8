import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { postCallback } from "../../src/testing/post-callback.ts";
import { describeFullOnPostgres, fullOnPostgres, type Target, withDatabase } from "../support/databases.ts";
import { countOf } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { type StartedByNpm, withNpmStart } from "../support/npm-start.ts";
import { event, payment, SECRET } from "../support/receiver.ts";
import { signIn, withPage } from "./dashboard.ts";

const LIMIT_MS = 240_000;
const ENV = { RATE_LIMIT_DEFAULT: "off", RATE_LIMIT_CALLBACK: "off", RETRY_MAX: "0" };

/** A rule of the database that refuses every order, as a books' closing does. */
const CLOSED = {
  sqlite: {
    close: `CREATE TRIGGER books BEFORE INSERT ON orders
      BEGIN SELECT RAISE(ABORT, 'the books are closed'); END`,
    open: "DROP TRIGGER books",
  },
  postgres: {
    close: "ALTER TABLE orders ADD CONSTRAINT the_books_are_closed CHECK (false) NOT VALID",
    open: "ALTER TABLE orders DROP CONSTRAINT the_books_are_closed",
  },
} as const;

/** What a platform sends on a usual morning. */
async function morning(url: string): Promise<void> {
  const address = `${url}/api/platform/callback`;
  const send = (sent: object, secret = SECRET) =>
    postCallback(address, secret, { body: Buffer.from(JSON.stringify(sent)) });
  for (let at = 0; at < 30; at += 1) {
    const paid = payment({ event_id: `evt_order_${at}` }, { order_id: `order-${at}`, amount: 19.9 });
    await send(paid);
    if (at % 6 === 0) await send(paid);
    if (at % 5 === 0) await send(event("webhook_message", { message: "a parcel has arrived" }));
    if (at % 10 === 0) await send(payment(), "the secret of another environment");
  }
}

async function goTo(page: Page, link: string, heading = link): Promise<void> {
  await page
    .getByRole("navigation")
    .getByRole("link", { name: new RegExp(`^${link}`) })
    .click();
  await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
  await page.getByText(/^Reading /).waitFor({ state: "hidden" });
}

/** Shows the callbacks that have arrived, once this event is among them. */
async function showNew(watching: Page, eventId: string): Promise<void> {
  await watching.getByRole("button", { name: /new$/ }).click();
  await watching.getByRole("row", { name: eventId }).waitFor();
}

/** Sends a payment from the sandbox; returns its event's id. */
async function sendFromSandbox(page: Page, answered: number): Promise<string> {
  await page.getByLabel("Event type and version").selectOption("payment_notify v1");
  await page.getByRole("button", { name: "New event id" }).click();
  const body = await page.getByLabel("Body, as it is signed and sent").inputValue();
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText(`Response ${answered} in`).waitFor();
  return (JSON.parse(body) as { event_id: string }).event_id;
}

/** Sign-in, an event from the sandbox that appears live, one that fails, its dry run, its replay. */
async function journey(target: Target, { adminUrl }: StartedByNpm): Promise<void> {
  const { close, open } = CLOSED[target.dialect];
  const context = { viewport: { width: 1_200, height: 800 }, locale: "en-GB", reducedMotion: "reduce" } as const;
  const walk = async ({ page, problems }: { page: Page; problems: string[] }) => {
    await page.goto("/");
    await signIn(page);
    await page.getByRole("heading", { name: "Outcomes" }).waitFor();
    await goTo(page, "Sources");
    await goTo(page, "Sandbox");
    // A second window of the same person, who watches what arrives.
    const watching = await page.context().newPage();
    await watching.goto("/activity");
    await watching.getByText("Live", { exact: true }).waitFor();

    const handled = await sendFromSandbox(page, 200);
    await showNew(watching, handled);

    await execute(target, close);
    const failed = await sendFromSandbox(page, 500);
    await showNew(watching, failed);

    await goTo(page, "Problems");
    const problem = page.locator(".problem-row", { hasText: /the[ _]books[ _]are[ _]closed/ });
    await problem.waitFor();
    await problem.locator(".cell-what").click();
    await execute(target, open);
    await page.getByRole("link", { name: failed }).click();
    await page.getByRole("button", { name: `Dry run: ${failed}` }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("nothing has changed").waitFor();
    await dialog.getByText("INSERT INTO orders").waitFor();
    expect(await countOf(target, "oncehook_records", `event_id = '${failed}'`)).toBe(0);
    expect(await countOf(target, "orders", `event_id = '${failed}'`)).toBe(0);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });

    await page.getByRole("button", { name: `Dry run: ${failed}` }).click();
    await dialog.getByRole("button", { name: "Replay this" }).click();
    await page.getByText(`${failed} was run now: handled.`).waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    expect(await countOf(target, "orders", `event_id = '${failed}'`)).toBe(1);
    await watching.getByRole("row", { name: failed }).click();
    await watching.getByRole("tab", { name: "Timeline" }).click();
    await watching.getByText("Replay 1").waitFor();
    await goTo(page, "Activity");
    await page.getByRole("button", { name: /^Refused/ }).click();
    await page
      .getByRole("row", { name: /Signature mismatch/ })
      .first()
      .click();
    await page.getByText(/^Refused: /).waitFor();
    expect(problems).toEqual([]);
  };
  await withPage(adminUrl, walk, context);
}

describeFullOnPostgres("after npm start, on %s", (dialect) => {
  it(
    "one signs in, sends from the sandbox, sees it arrive, sees one fail, tries it dry, and replays it",
    { tags: fullOnPostgres(dialect), timeout: LIMIT_MS },
    () =>
      withDatabase(dialect, (target) =>
        withNpmStart(
          target,
          async (started) => {
            await morning(started.url);
            await journey(target, started);
          },
          ENV,
        ),
      ),
  );
});
