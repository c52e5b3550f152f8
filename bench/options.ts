import { parseArgs } from "node:util";

export interface Options {
  /** Empty: all of them. */
  readonly cases: readonly string[];
  readonly contenders: readonly string[];
  readonly rounds: number;
  readonly seconds: number;
  /** Of each server, before it is measured: V8 compiles the code that runs often within some 30,000 events. */
  readonly warmUpSeconds: number;
  readonly memorySeconds: number;
  readonly connections: number;
  readonly sizes: readonly number[];
  readonly out: string;
  readonly writesDocs: boolean;
}

export const USAGE = `npm run bench -- [options]
  --case <names>         of fresh, duplicates, bad-signatures, mixed, prepare, large, processes, latency, growth, overload,
                         memory, allocation, startup, sources, identity, dependent, application; separated by commas;
                         default: all
  --contender <names>    of bare, prototype, oncehook-sqlite, oncehook-postgres, express-sqlite, express-postgres,
                         go-sqlite, go-postgres, webhook, restate, pgbench, pgbench-pipeline, oncehook-package,
                         oncehook-signed-id, oncehook-unsigned-id, oncehook-dependent, oncehook-dependent-alone,
                         application-{node,express,hono}-{sqlite,postgres}; default: all
  --rounds <n>           alternating rounds; default: 5
  --seconds <s>          of a round; default: 8
  --warmup <s>           before each round; default: 10, and no longer than a round of less than 5 s
  --memory-seconds <s>   of the one long run of the case memory; default: 300
  --connections <c>      of wrk; default: 64
  --sizes <numbers>      of stored events for the case growth; default: 0,1000000,10000000
  --out <file>           default: bench/results/latest.json; the plot goes beside it, as .svg
  --write-docs           write the figures of that file into docs/performance.md, and measure nothing
`;

const WARM_UP = 10;
/** A trial with such rounds shows that a case runs, and is to end soon. */
const SHORT_ROUND = 5;

/** @throws TypeError that names the option */
export function readOptions(args: readonly string[], defaultOut: string): Options {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      case: text,
      contender: text,
      rounds: { ...text, default: "5" },
      seconds: { ...text, default: "8" },
      warmup: text,
      "memory-seconds": { ...text, default: "300" },
      connections: { ...text, default: "64" },
      sizes: { ...text, default: "0,1000000,10000000" },
      out: { ...text, default: defaultOut },
      "write-docs": { type: "boolean", default: false },
    },
  });
  const seconds = wholeNumber("seconds", values.seconds, 1);
  const warmUpSeconds = seconds < SHORT_ROUND ? seconds : WARM_UP;
  return {
    cases: listOf(values.case),
    contenders: listOf(values.contender),
    rounds: wholeNumber("rounds", values.rounds, 1),
    seconds,
    warmUpSeconds: values.warmup === undefined ? warmUpSeconds : wholeNumber("warmup", values.warmup, 1),
    memorySeconds: wholeNumber("memory-seconds", values["memory-seconds"], 3),
    connections: wholeNumber("connections", values.connections, 1),
    sizes: listOf(values.sizes).map((size) => wholeNumber("sizes", size, 0)),
    out: values.out,
    writesDocs: values["write-docs"],
  };
}

function listOf(value: string | undefined): string[] {
  return (value ?? "").split(",").filter((name) => name !== "");
}

function wholeNumber(name: string, text: string, least: number): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= least) return number;
  throw new TypeError(`--${name}: got ${JSON.stringify(text)}, expected a whole number from ${least}`);
}

/** The items of these names, all of them for no name. @throws TypeError for an unknown name */
export function choose<Item extends { readonly name: string }>(
  option: string,
  items: readonly Item[],
  names: readonly string[],
): Item[] {
  const unknown = names.find((name) => !items.some((item) => item.name === name));
  if (unknown !== undefined) {
    throw new TypeError(`--${option}: no ${unknown}; there are ${items.map(({ name }) => name).join(", ")}`);
  }
  return items.filter(({ name }) => names.length === 0 || names.includes(name));
}
