import pg from "pg";
import { inOnePiece, type Sent, send, type Wire } from "./exchange.ts";

interface Parts {
  callback: ((error: Error | null | undefined, result?: pg.QueryResult) => void) | undefined;
  /** @returns why it sent nothing */
  submit(connection: unknown): Error | null;
  handleCommandComplete(message: object, connection: unknown): void;
}

/** The driver's own query has these; its types do not. */
const DriversQuery = pg.Query as unknown as new (config: object) => Parts;

/** A query of the driver, with the types it knows for values and columns, behind statements that go in the same round trip. */
export class PrefixedQuery extends DriversQuery {
  readonly #prefix: readonly Sent[];
  #unanswered: number;
  #names: Set<string> | undefined;

  constructor(config: object, prefix: readonly Sent[]) {
    super(config);
    this.#prefix = prefix;
    this.#unanswered = prefix.length;
  }

  override submit(connection: unknown): Error | null {
    const wire = connection as Wire;
    return inOnePiece(wire, () => {
      this.#names = send(wire, this.#prefix);
      return super.submit(wire);
    });
  }

  override handleCommandComplete(message: object, connection: unknown): void {
    if (this.#unanswered === 0) {
      super.handleCommandComplete(message, connection);
      return;
    }
    const { name } = this.#prefix[this.#prefix.length - this.#unanswered] ?? {};
    if (name !== undefined) this.#names?.add(name);
    this.#unanswered -= 1;
  }
}
