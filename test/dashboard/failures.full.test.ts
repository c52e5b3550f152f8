import { expect, it } from "vitest";
import { event } from "../support/receiver.ts";
import { unreliable } from "../support/unreliable.ts";
import { until } from "../support/until.ts";
import { signIn, withDashboard } from "./dashboard.ts";

const LIMIT_MS = 120_000;

it("the failures page tries a failure without a change, then retries it", { timeout: LIMIT_MS }, () => {
  const { state, handler } = unreliable();
  return withDashboard(
    async ({ page, receiver, problems }) => {
      await receiver.send(event("unreliable", {}, { event_id: "evt_a" }));
      state.down = false;
      await page.goto("/failures");
      await signIn(page);
      await page.getByText("the warehouse is closed").first().waitFor();
      await page.getByRole("button", { name: "Dry run: evt_a" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText("nothing has changed").waitFor();
      await dialog.getByText('"shelf": 7').waitFor();
      expect(await receiver.count("oncehook_records")).toBe(0);
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "hidden" });
      await page.getByRole("button", { name: "Replay: evt_a" }).click();
      await page.getByText("evt_a was run now: success.").waitFor();
      await page.getByText("No failures match.").waitFor();
      expect(await receiver.count("oncehook_records", "event_id = 'evt_a'")).toBe(1);
      expect(problems).toEqual([]);
    },
    { handlers: [handler], env: { RETRY_MAX: "0" } },
  );
});

it("the failures page shows and retries an event whose id is two dots", { timeout: LIMIT_MS }, () => {
  const { state, handler } = unreliable();
  return withDashboard(
    async ({ page, receiver, problems }) => {
      await receiver.send(event("unreliable", {}, { event_id: ".." }));
      state.down = false;
      await page.goto("/failures");
      await signIn(page);
      await page.getByRole("link", { name: "..", exact: true }).click();
      await page.getByText("Failed once. No automatic retry is left").waitFor();
      // Its address is one that a browser leaves as it is.
      await page.reload();
      await page.getByText("Failed once. No automatic retry is left").waitFor();
      await page.getByRole("button", { name: "Replay: .." }).click();
      await page.getByText(".. was run now: success.").waitFor();
      expect(await receiver.count("oncehook_records", "event_id = '..'")).toBe(1);
      expect(problems).toEqual([]);
    },
    { handlers: [handler], env: { RETRY_MAX: "0" } },
  );
});

it("a failure is discarded only after a question that is answered yes", { timeout: LIMIT_MS }, () => {
  const { handler } = unreliable();
  return withDashboard(
    async ({ page, receiver }) => {
      await receiver.send(event("unreliable", {}, { event_id: "evt_b" }));
      await page.goto("/failures");
      await signIn(page);
      const discard = page.getByRole("button", { name: "Discard: evt_b" });
      await discard.click();
      const dialog = page.getByRole("dialog");
      // The safe answer has the focus.
      await until(async () => (await page.evaluate("document.activeElement?.textContent")) === "Keep it");
      await page.keyboard.press("Enter");
      await dialog.waitFor({ state: "hidden" });
      expect(await receiver.count("oncehook_failures")).toBe(1);
      await discard.click();
      await dialog.getByRole("button", { name: "Discard it" }).click();
      await page.getByText("The failure of evt_b was discarded.").waitFor();
      expect(await receiver.count("oncehook_failures")).toBe(0);
    },
    { handlers: [handler], env: { RETRY_MAX: "0" } },
  );
});
