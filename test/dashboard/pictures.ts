import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { until } from "../support/until.ts";

/** The documentation's pictures; `npm run pictures` makes them anew. */
const FOLDER = "docs/pictures";
export const isToBeKept = process.env.KEEP_PICTURES === "1";

/** Takes pictures of pages, under the names that the documentation has them. */
export class Pictures {
  readonly #taken: string[] = [];

  async take(page: Page, name: string): Promise<void> {
    // No button is shown as hovered, or while it loads.
    await page.mouse.move(0, 0);
    await until(async () => (await page.locator("[data-loading=true]").count()) === 0, 30_000);
    const png = await page.screenshot({ animations: "disabled", caret: "hide" });
    this.#taken.push(name);
    if (!isToBeKept) return;
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(join(FOLDER, `${name}.png`), png);
  }

  /** The documentation shows what this run has seen, in each view: no picture is left of a page that is gone. */
  expectThoseOfDocs(suffixes: readonly string[]): void {
    const names = this.#taken.filter((name) => !suffixes.some((suffix) => suffix !== "" && name.endsWith(suffix)));
    const files = names.flatMap((name) => suffixes.map((suffix) => `${name}${suffix}.png`));
    expect(readdirSync(FOLDER).sort()).toEqual(files.sort());
  }
}
