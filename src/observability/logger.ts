import { inspect } from "node:util";
import { type LoggerOptions as PinoOptions, pino, stdSerializers } from "pino";
import { callOnce, type Log, readableError } from "../domain/index.ts";
import { createMinuteCounter } from "./counters.ts";
import type { WriteLine } from "./log-line.ts";
import type { Mask } from "./masking/mask.ts";
import type { TraceIds } from "./tracing/index.ts";

/** The part of a pino logger that the service uses. No declaration names pino, which is not installed with the package. */
export interface Logger extends Record<keyof Log | "fatal", LogMethod> {
  level: string;
  child(fields: object, options?: object): Logger;
  isLevelEnabled(level: string): boolean;
  flush(done: (error?: Error) => void): void;
}

interface LogMethod {
  (fields: unknown, message?: string): void;
  (message: string): void;
}

interface DestinationStream {
  write(line: string): void;
}

export interface LoggerOptions {
  readonly level: string;
  readonly mask: Mask;
  readonly destination?: DestinationStream;
}

/** The service's log: JSON lines, written without blocking the process, secrets in errors masked. */
export function createLogger({ level, mask, destination = processOutput() }: LoggerOptions): Logger {
  const options: PinoOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: (error: unknown) => shownError(error, mask) },
    hooks: {
      logMethod(args, method) {
        const [given, message] = args as [unknown, unknown?];
        const fields = readableFields(given);
        // Without a message pino would take the error's own, past the serializer that masks it.
        const own = message === undefined ? errorMessage(fields) : undefined;
        if (own !== undefined) method.call(this, fields, mask.text(own));
        else if (fields !== given) method.call(this, fields, message as string);
        else method.apply(this, args);
      },
    },
  };
  return pino(options, destination);
}

/** One for all loggers of a process: each standard output listens for the end of the process. */
const processOutput = callOnce(() => standardOutput());

/** The same log, whose lines say in which trace they were written. */
export function withTraceIds(logger: Logger, activeIds: () => TraceIds | undefined): Logger {
  return logger.child(
    {},
    {
      formatters: {
        log(fields: object) {
          const ids = activeIds();
          return ids === undefined ? fields : { ...fields, trace_id: ids.traceId, span_id: ids.spanId };
        },
      },
    },
  );
}

/** Writes lines of the logger's own form around fields that are JSON already. */
export function lineWriter(logger: Logger): WriteLine {
  const stream = (logger as unknown as Record<symbol, DestinationStream>)[pino.symbols.streamSym];
  return (level, fields, message) => {
    if (!logger.isLevelEnabled(level)) return;
    const time = new Date().toISOString();
    stream?.write(
      `{"level":${pino.levels.values[level]},"time":"${time}",${fields()},"msg":${JSON.stringify(message)}}\n`,
    );
  };
}

/** Writes what still waits, before the process exits. */
export function closeLogger(logger: Logger): Promise<void> {
  return new Promise((resolve) => {
    logger.flush(() => resolve());
  });
}

/** Message and stack with those of the causes; other properties may hold anything, and are left out. */
function shownError(error: unknown, mask: Mask): unknown {
  if (!(error instanceof Error)) return mask.text(thrownText(error));
  const { type, message, stack } = stdSerializers.err(error);
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  // A connection that was tried at several addresses fails with an empty message and one error for each.
  const errors =
    error instanceof AggregateError
      ? error.errors.map((part: unknown) => mask.text(part instanceof Error ? String(part) : thrownText(part)))
      : undefined;
  return { type, message: mask.text(message), stack: mask.text(stack), code, errors };
}

function thrownText(thrown: unknown): string {
  return typeof thrown === "string" ? thrown : inspect(thrown, { depth: 2, customInspect: false });
}

/** The fields of a line, with another error in the place of one that throws where it is read. */
function readableFields(given: unknown): unknown {
  try {
    const fields = readableError(given);
    if (!isObject(fields) || !("err" in fields)) return fields;
    const err = readableError(fields.err);
    return err === fields.err ? fields : { ...fields, err };
  } catch {
    return { err: readableError(given) };
  }
}

/** The message that pino would take for a line that has none of its own. */
function errorMessage(fields: unknown): string | undefined {
  const error: unknown = isObject(fields) && "err" in fields ? fields.err : fields;
  if (error instanceof Error) return error.message;
  const isForeign = error !== fields && isObject(error) && "message" in error;
  return isForeign && typeof error.message === "string" ? error.message : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** A pipe whose other end does not read must not cost us all memory. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/**
 * Standard output, written to without blocking. The lines of one turn of the event loop go out together. The writer behind it
 * makes one write a turn, of 16 KiB at most unless handed more at once. Given single lines, it would fall behind for ever.
 */
export function standardOutput(fd = 1, mostWaitingBytes = MAX_WAITING_BYTES) {
  // With a least length of 0 the destination would take a flush for done while lines are still being written.
  const out = pino.destination({ fd, sync: false, minLength: 1, maxLength: mostWaitingBytes });
  let lines: string[] = [];

  function passOn(): void {
    if (lines.length === 0) return;
    const text = lines.join("");
    lines = [];
    out.write(text);
  }

  const dropped = createMinuteCounter((count) => {
    const line = { level: 40, time: new Date().toISOString(), left_out: count, msg: DROPPED_LINES };
    out.write(`${JSON.stringify(line)}\n`);
  });
  out.on("drop", (text: string) => {
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) dropped.add();
  });

  // No further turn comes then: what a process says as it dies says why.
  process.on("exit", () => {
    passOn();
    out.flushSync();
  });

  return {
    write(line: string): void {
      if (lines.push(line) === 1) setImmediate(passOn);
    },
    /** Calls back when all that was written so far is out, or could not be. */
    flush(done: (error?: Error | null) => void): void {
      passOn();
      dropped.close();
      out.flush(done);
    },
  };
}

const DROPPED_LINES = "lines were left out of the log: standard output did not take them in time";
