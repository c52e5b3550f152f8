import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import chromium from "@sparticuz/chromium";
import { type Browser, chromium as playwright } from "playwright-core";

/** Lends a Chromium; npm brings it, packed, and it is unpacked into a folder of its own. */
export async function withBrowser<T>(use: (browser: Browser) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-browser-"));
  const { TMPDIR } = process.env;
  process.env.TMPDIR = folder;
  try {
    const executablePath = await chromium.executablePath();
    const browser = await playwright.launch({ executablePath, args: chromium.args, headless: true });
    try {
      return await use(browser);
    } finally {
      await browser.close();
    }
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    await rm(folder, { recursive: true, force: true });
  }
}
