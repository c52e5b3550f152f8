import { existsSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import chromium from "@sparticuz/chromium";
import { type Browser, chromium as playwright } from "playwright-core";
import { inject } from "vitest";
import { atFileEnd } from "./at-file-end.ts";
import { until } from "./until.ts";

// Its own renderer of 3D graphics takes a third of all work of these tests.
chromium.setGraphicsMode = false;

const UNPACKING_LIMIT_MS = 60_000;

let launched: Promise<Browser> | undefined;

/** Lends a Chromium, one for all tests of a file: what a test opened in it is closed afterwards. */
export async function withBrowser<T>(use: (browser: Browser) => Promise<T>): Promise<T> {
  if (launched !== undefined && !(await launched).isConnected()) launched = undefined;
  launched ??= launch();
  const browser = await launched;
  try {
    return await use(browser);
  } finally {
    for (const context of browser.contexts()) await context.close();
  }
}

async function launch(): Promise<Browser> {
  const executablePath = await unpacked(inject("runFolder"));
  // In a single process, as the package's arguments have it, the browser ends with its first context.
  const args = chromium.args.filter((arg) => arg !== "--single-process");
  const browser = await playwright.launch({ executablePath, args, headless: true });
  atFileEnd(() => {
    launched = undefined;
    return browser.close();
  });
  return browser;
}

/** npm brings it packed. The first test file that needs it unpacks it for the whole run; another one waits for that. */
async function unpacked(runFolder: string): Promise<string> {
  const [ready, unpacking] = [join(runFolder, "browser"), join(runFolder, "unpacking")];
  const isFirst = await mkdir(join(runFolder, "browser-is-taken")).then(
    () => true,
    () => false,
  );
  if (!isFirst) await until(() => existsSync(ready), UNPACKING_LIMIT_MS);
  else {
    const { TMPDIR } = process.env;
    await mkdir(unpacking);
    process.env.TMPDIR = unpacking;
    try {
      await chromium.executablePath();
    } finally {
      if (TMPDIR === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = TMPDIR;
    }
    await rename(unpacking, ready);
  }
  return join(ready, "chromium");
}
