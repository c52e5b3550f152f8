import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect } from "vitest";

/** The documentation's pictures; `npm run pictures` makes them anew. */
const FOLDER = "docs/pictures";
const isToBeKept = process.env.KEEP_PICTURES === "1";
export const PICTURE_SIZE = { width: 1_200, height: 800 };

/** Takes pictures of pages, under the names that the documentation has them. */
export class Pictures {
  readonly #taken: string[] = [];

  async take(page: Page, name: string): Promise<void> {
    const png = await page.screenshot({ animations: "disabled", caret: "hide" });
    this.#taken.push(`${name}.png`);
    if (!isToBeKept) return;
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(join(FOLDER, `${name}.png`), png);
  }

  /** The documentation shows what this run has seen: no picture is left of a page that is gone. */
  expectThoseOfDocs(): void {
    expect(readdirSync(FOLDER).sort()).toEqual([...this.#taken].sort());
  }
}
