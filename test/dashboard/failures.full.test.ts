import { expect, it } from "vitest";
import { event } from "../support/receiver.ts";
import { unreliable } from "../support/unreliable.ts";
import { until } from "../support/until.ts";
import { expectShown, signIn, withDashboard } from "./dashboard.ts";

const LIMIT_MS = 120_000;

it("the panel shows and replays an event whose id is two dots", { timeout: LIMIT_MS }, () => {
  const { state, handler } = unreliable();
  return withDashboard(
    async ({ page, receiver, problems }) => {
      await receiver.send(event("unreliable", {}, { event_id: ".." }));
      state.down = false;
      await page.goto("/problems");
      await signIn(page);
      await page.locator(".problem-row .cell-what").click();
      await page.getByRole("link", { name: "..", exact: true }).click();
      await page.getByText("Failed once. No automatic retry is left").waitFor();
      // Its address is one that a browser leaves as it is.
      await page.reload();
      await page.getByText("Failed once. No automatic retry is left").waitFor();
      await page.getByRole("button", { name: "Replay: .." }).click();
      await page.getByText(".. was run now: handled.").waitFor();
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
      await page.goto("/activity?open=platform/evt_b");
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

it("a failure that another operator has discarded is reported as gone", { timeout: LIMIT_MS }, () =>
  withDashboard(
    async ({ page, receiver }) => {
      await receiver.send(event("unreliable", {}, { event_id: "evt_gone" }));
      await page.goto("/activity?open=platform/evt_gone");
      await signIn(page);
      const replay = page.getByRole("button", { name: "Replay: evt_gone" });
      await replay.waitFor();
      await receiver.admin("/api/v1/failures/platform/evt_gone", { method: "DELETE" });
      await replay.click();
      await expectShown(page.getByText("evt_gone: no failure under this source and event_id"));
    },
    { handlers: [unreliable().handler], env: { RETRY_MAX: "0" } },
  ),
);
