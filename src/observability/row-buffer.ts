export interface RowBufferOptions<Row> {
  /** Stores rows, all of them or none. */
  readonly append: (rows: readonly Row[]) => Promise<void>;
  readonly maxRows: number;
  /** How much memory a row takes: about its characters or bytes. */
  readonly lengthOf: (row: Row) => number;
  /** Whether an error of `append` is of a value in its rows, so that it would come again. */
  readonly isDataError?: (error: unknown) => boolean;
  /** Receives each row that was refused by itself, which is dropped. */
  readonly onRefused?: (row: Row, error: unknown) => void;
  /** Receives every other error; its rows are kept. */
  readonly onError: (error: unknown, waiting: number) => void;
}

const FLUSH_AFTER_MS = 100;
const RETRY_AFTER_MS = 1_000;
const BATCH_ROWS = 200;
/** While the database is away, rows of long bodies would fill the memory before their number is reached. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

/** Rows on their way to the store, in groups, one group at a time. */
export function createRowBuffer<Row>(options: RowBufferOptions<Row>) {
  const { append, maxRows, lengthOf, isDataError, onRefused, onError } = options;
  const waiting: Row[] = [];
  /** Of those added, the ones that left are stored or refused. */
  const total = { added: 0, left: 0, characters: 0 };
  /** How many rows are to be stored one by one: among them is one that was refused. */
  let single = 0;
  let timer: NodeJS.Timeout | undefined;
  let storing: Promise<boolean> | undefined;
  let isFailing = false;

  function schedule(): void {
    timer ??= setTimeout(() => void flush(), isFailing ? RETRY_AFTER_MS : FLUSH_AFTER_MS).unref();
  }

  function unschedule(): void {
    clearTimeout(timer);
    timer = undefined;
  }

  async function storeGroup(): Promise<boolean> {
    const rows = waiting.slice(0, single > 0 ? 1 : BATCH_ROWS);
    try {
      await append(rows);
    } catch (error) {
      if (!isDataError?.(error)) {
        isFailing = true;
        onError(error, waiting.length);
        return false;
      }
      if (rows.length > 1) {
        single = rows.length;
        return true;
      }
      for (const row of rows) onRefused?.(row, error);
    }
    isFailing = false;
    single = Math.max(0, single - 1);
    waiting.splice(0, rows.length);
    total.left += rows.length;
    for (const row of rows) total.characters -= lengthOf(row);
    return true;
  }

  /** Resolves when every row added so far is stored or refused, or could not be stored; never rejects. */
  async function flush(): Promise<void> {
    unschedule();
    // Rows that arrive meanwhile are left to the next flush; under load this one would never end.
    const target = total.added;
    while (total.left < target) {
      storing ??= storeGroup().finally(() => {
        storing = undefined;
      });
      if (!(await storing)) break;
    }
    if (waiting.length > 0) schedule();
  }

  return {
    /** False when the buffer is full. */
    add(row: Row): boolean {
      const characters = lengthOf(row);
      if (waiting.length >= maxRows || total.characters + characters > MAX_CHARACTERS) return false;
      waiting.push(row);
      total.added += 1;
      total.characters += characters;
      if (waiting.length >= BATCH_ROWS && storing === undefined && !isFailing) void flush();
      else schedule();
      return true;
    },
    flush,
    /** Flushes, stops the timer and returns how many rows the store did not take. */
    async close(): Promise<number> {
      await flush();
      unschedule();
      return waiting.length;
    },
  };
}
