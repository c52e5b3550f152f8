import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Look {
  /** A selector; the whole page where it is left out. */
  readonly within?: string;
  /** The rules that are asked; all where it is left out. */
  readonly only?: readonly string[];
}

/** What axe objects to, a line each. */
export async function violations(page: Page, { within = "html", only }: Look = {}): Promise<string[]> {
  if ((await page.evaluate("'axe' in window")) !== true) await page.evaluate(AXE);
  // Half of a change of colours is neither of them.
  await page.evaluate("for (const one of document.getAnimations()) if (one instanceof CSSTransition) one.finish()");
  // Off by default: a target has 24 pixels, or as much room around it.
  const options = only === undefined ? { rules: { "target-size": { enabled: true } } } : { runOnly: only };
  const { violations } = (await page.evaluate(
    `axe.run(${JSON.stringify(within)}, ${JSON.stringify(options)})`,
  )) as AxeResults;
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}
