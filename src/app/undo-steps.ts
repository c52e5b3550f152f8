import type { Log } from "../domain/index.ts";

/** The parts that a start has opened. A stop, and a start that fails, close them in reverse. */
export class UndoSteps {
  readonly #log: Log;
  readonly #steps: { readonly part: string; readonly close: () => unknown }[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  /** @param part names it in the log */
  add(part: string, close: () => unknown): void {
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
