import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { preloaded } from "./preloaded.ts";

/**
 * The power of a machine on which a receiver has its database. What was not flushed is gone when it fails, and so is a new file
 * whose folder was not.
 */
export class Power {
  /** What a receiver is started with to live on this machine. */
  readonly env: Record<string, string>;
  readonly #folder: string;
  readonly #flushed: string;

  /** @throws NotRun where there is no compiler, or no such way to load a library */
  constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), "oncehook-power-"));
    this.#flushed = join(this.#folder, "flushed");
    mkdirSync(this.#flushed);
    this.env = { LD_PRELOAD: preloaded("power", this.#folder), ONCEHOOK_POWER: this.#flushed };
  }

  /** Leaves of a database what was flushed. Nobody may have it open: a power failure takes the processes too. */
  fail(database: string): void {
    const files = ["", "-wal", "-journal"].map((end) => database + end);
    for (const file of files.filter((one) => existsSync(one))) {
      const flushed = join(this.#flushed, basename(file));
      if (!existsSync(`${flushed}.named`)) rmSync(file);
      else if (existsSync(flushed)) copyFileSync(flushed, file);
      else truncateSync(file);
    }
    rmSync(`${database}-shm`, { force: true });
  }

  destroy(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
