import type { Page } from "playwright-core";
import { breaking } from "../support/breaking.ts";
import { event, type ReceiverOptions, type TestReceiver } from "../support/receiver.ts";
import { signIn, withDashboard } from "./dashboard.ts";

export const LIMIT_MS = 180_000;
export const PATIENCE_MS = 60_000;
export const OPEN = { RATE_LIMIT_DEFAULT: "off", RATE_LIMIT_CALLBACK: "off", RETRY_MAX: "0" };
export const WIDE = { viewport: { width: 1_440, height: 900 } };

export const rowsOf = (page: Page) => page.locator(".problem-row");
export const rowOf = (page: Page, text: string | RegExp) => rowsOf(page).filter({ hasText: text });
export const panelOf = (page: Page) => page.getByRole("complementary", { name: "Problem" });

export async function fail(receiver: TestReceiver, type: string, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await receiver.send(event(type, {}, { event_id: `${type}_${at}` }));
}

type Used = Parameters<Parameters<typeof withDashboard>[0]>[0] & Pick<ReturnType<typeof breaking>, "broken">;

/** The signed-in list of problems, with the failures of these types. @param failures how many of each, with its message */
export function withFailures(
  failures: Readonly<Record<string, readonly [count: number, message: string]>>,
  use: (shown: Used) => Promise<void>,
  options: Pick<ReceiverOptions, "bulkPollMs"> = {},
): Promise<void> {
  const { broken, handlers } = breaking(
    Object.fromEntries(Object.entries(failures).map(([type, [, text]]) => [type, text])),
  );
  return withDashboard(
    async (shown) => {
      for (const [type, [count]] of Object.entries(failures)) await fail(shown.receiver, type, count);
      await shown.page.goto("/problems");
      await signIn(shown.page);
      await use({ ...shown, broken });
    },
    { handlers, env: OPEN, ...options },
    WIDE,
  );
}
