import { type EventKey, isTypePattern, keySourceOf, keyText, VERSIONS } from "../domain/index.ts";
import type { Registry } from "../handlers/index.ts";
import { UNKNOWN_BYTES } from "../pipeline/index.ts";
import { idFault } from "../sources/index.ts";
import type { KnownKeys, SeenEvent, Store } from "../store/index.ts";
import { systemClock } from "../system/index.ts";

/** A line of the input: an event that another program handled, or why it is none. */
export type SeenLine =
  | {
      readonly line: number;
      readonly id: unknown;
      /** Left out where the table has no types: the event counts as handled for every handler of its source. */
      readonly type?: unknown;
      readonly processedAt?: Date | undefined;
    }
  | { readonly line: number; readonly fault: string };

export interface ImportRequest {
  /** The source's name in the configuration, with its tenant: `stripe`, `shops/acme.example`. */
  readonly source: string;
  readonly events: AsyncIterable<SeenLine>;
  readonly isDryRun: boolean;
}

/** Counts of events; each line of the input is one of them, or refused. */
export interface ImportReport {
  readonly source: string;
  /** Those that have a record now, or would have one. */
  readonly imported: number;
  /** Those that had one, or stand in the input before. */
  readonly alreadyThere: number;
  readonly refused: number;
  /** Of the first of them. */
  readonly reasons: readonly { readonly line: number; readonly reason: string }[];
}

const MAX_REASONS = 20;
/** Rows of one statement, whose values both databases can take. */
const MAX_RECORDS = 500;
const MAX_AHEAD_MS = 86_400_000;
const OPEN_FAILURE =
  "is a failure or an accepted event here: let it run, or discard it (oncehook discard), then import again";

interface ImportDependencies {
  readonly store: Pick<Store, "seenEvents">;
  readonly registry: Registry;
}

/** Writes the record of each event that another program handled: its redelivery is a duplicate from then on. */
export async function importSeen(request: ImportRequest, deps: ImportDependencies): Promise<ImportReport> {
  const importing = new Import(request, deps);
  for await (const event of request.events) await importing.take(event);
  return importing.finish();
}

type Checked = Readonly<{ line: number; eventId: string; eventType: string | undefined; processedAt: Date }>;

class Import {
  readonly #request: ImportRequest;
  readonly #deps: ImportDependencies;
  readonly #names: readonly (string | undefined)[];
  readonly #counts = { imported: 0, alreadyThere: 0, refused: 0 };
  readonly #reasons: { line: number; reason: string }[] = [];
  readonly #now = systemClock.now();
  readonly #batch = new Map<string, Checked>();

  constructor(request: ImportRequest, deps: ImportDependencies) {
    this.#request = request;
    this.#deps = deps;
    const handlers = deps.registry.handlers.filter(({ source }) => source === request.source.split("/")[0]);
    this.#names = [...new Set([undefined, ...handlers.map(({ name }) => name)])];
  }

  async take(given: SeenLine): Promise<void> {
    const checked = "fault" in given ? given.fault : this.#check(given);
    if (typeof checked === "string") return this.#refuse(given.line, checked);
    const key = `${checked.eventId}\u0000${checked.eventType ?? ""}`;
    if (this.#batch.has(key)) this.#counts.alreadyThere += 1;
    else this.#batch.set(key, checked);
    if (this.#batch.size * this.#names.length >= MAX_RECORDS) await this.#write();
  }

  async finish(): Promise<ImportReport> {
    await this.#write();
    return { source: this.#request.source, ...this.#counts, reasons: this.#reasons };
  }

  /** @returns the event, or why it is none */
  #check({ line, id, type, processedAt = this.#now }: Exclude<SeenLine, { fault: string }>): Checked | string {
    // As the receiver checks the ids of callbacks.
    const fault = idFault(id);
    if (fault !== undefined) return `id: ${fault}`;
    const eventId = id as string;
    if (eventId.trim() !== eventId) return "id: begins or ends with a space, which is a part of an id";
    if (type !== undefined && (!isTypePattern(type) || type.endsWith("*"))) return "type: expected an event type";
    if (Number.isNaN(processedAt.getTime())) return "processed_at: expected a time such as 2026-11-27T10:59:24Z";
    if (processedAt.getTime() > this.#now.getTime() + MAX_AHEAD_MS) return "processed_at: is in the future";
    return { line, eventId, eventType: type, processedAt };
  }

  #refuse(line: number, reason: string): void {
    this.#counts.refused += 1;
    if (this.#reasons.length < MAX_REASONS) this.#reasons.push({ line, reason });
  }

  async #write(): Promise<void> {
    if (this.#batch.size === 0) return;
    const { seenEvents } = this.#deps.store;
    const events = [...this.#batch.values()].map((event) => ({ event, records: this.#recordsOf(event) }));
    this.#batch.clear();
    const records = events.flatMap((one) => one.records);
    const known = this.#request.isDryRun
      ? await seenEvents.known(records)
      : await seenEvents.add(records, systemClock.now());
    for (const { event, records: keys } of events) this.#count(event, keys, known);
  }

  #count({ line }: Checked, keys: readonly EventKey[], { records, failures }: KnownKeys): void {
    if (keys.some((key) => failures.has(keyText(key)))) return this.#refuse(line, OPEN_FAILURE);
    if (keys.every((key) => records.has(keyText(key)))) this.#counts.alreadyThere += 1;
    else this.#counts.imported += 1;
  }

  /** One for each handler that its redelivery would reach, under every name that might be one without a type. */
  #recordsOf({ eventId, eventType, processedAt }: Checked): SeenEvent[] {
    const { source } = this.#request;
    const sources =
      eventType === undefined
        ? this.#names.map((name) => keySourceOf({ source, name }))
        : VERSIONS.flatMap((version) => this.#deps.registry.keySources(source, version, eventType));
    const rest = { eventId, eventType: eventType ?? "", version: VERSIONS[0], bodySha256: UNKNOWN_BYTES, processedAt };
    return [...new Set([source, ...sources])].map((one) => ({ ...rest, source: one }));
  }
}
