import type { Log } from "../domain/index.ts";

interface UndoStep {
  /** Names it in the log. */
  readonly part: string;
  readonly close: () => unknown;
}

/** The parts that a start has opened. A stop, and a start that fails, close them in reverse. */
export class UndoSteps {
  readonly #log: Log;
  readonly #steps: UndoStep[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  add(part: string, close: UndoStep["close"]): void {
    this.#steps.push({ part, close });
  }

  /** One that fails does not keep the others from closing. @throws AggregateError */
  async run(): Promise<void> {
    const errors: unknown[] = [];
    for (const { part, close } of this.#steps.splice(0).reverse()) {
      try {
        await close();
        this.#log.debug({ part }, "closed");
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, "some parts did not stop cleanly");
  }
}
