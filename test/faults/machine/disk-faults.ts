import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { preloaded } from "./preloaded.ts";

/** As in disk-faults.c: for each kind of call the errno, and how often it failed. */
const CELLS = { write: 0, sync: 1, truncate: 2 } as const;
type Kind = keyof typeof CELLS;
const { ENOSPC, EIO, EROFS } = constants.errno;

/** What may go wrong with a disk. */
export const TROUBLES = {
  "is full": { write: ENOSPC, truncate: ENOSPC },
  "does not take what is written": { write: EIO },
  "is read-only": { write: EROFS, truncate: EROFS },
  "does not flush": { sync: EIO },
} as const satisfies Record<string, Partial<Record<Kind, number>>>;
export type Trouble = keyof typeof TROUBLES;

/** The disk of a receiver, whose troubles come and go while it runs. */
export class FaultyDisk {
  /** What a receiver is started with to live on this disk. */
  readonly env: Record<string, string>;
  readonly #folder: string;
  readonly #file: number;

  /** @throws NotRun where there is no compiler, or no such way to load a library */
  constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), "oncehook-disk-"));
    const library = preloaded("disk-faults", this.#folder);
    const page = join(this.#folder, "cells");
    writeFileSync(page, Buffer.alloc(4_096));
    this.#file = openSync(page, "r+");
    this.env = { LD_PRELOAD: library, ONCEHOOK_DISK_FAULTS: page };
  }

  begin(trouble: Trouble): void {
    const errors: Partial<Record<Kind, number>> = TROUBLES[trouble];
    for (const [kind, errno] of Object.entries(errors)) this.#write(CELLS[kind as Kind] * 2, errno);
  }

  end(): void {
    for (const cell of Object.values(CELLS)) this.#write(cell * 2, 0);
  }

  /** How many calls have failed so far. */
  get failed(): number {
    const page = Buffer.alloc(4 * 2 * Object.keys(CELLS).length);
    readSync(this.#file, page, 0, page.length, 0);
    return Object.values(CELLS).reduce<number>((sum, cell) => sum + page.readInt32LE(4 * (cell * 2 + 1)), 0);
  }

  destroy(): void {
    closeSync(this.#file);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #write(cell: number, value: number): void {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(value);
    writeSync(this.#file, bytes, 0, 4, 4 * cell);
  }
}
