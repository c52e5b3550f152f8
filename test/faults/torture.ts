/** `npm run torture`: breaks everything, many times, and holds the books against each other. See docs/reliability.md. */
import { parseArgs } from "node:util";
import { buildAhead } from "../support/built-package.ts";
import { ROUNDS } from "./rounds/index.ts";
import { type Ended, runRounds } from "./run-rounds.ts";
import { figuresOf, rowOf, tableOf, verdictOf } from "./table.ts";

const USAGE = `npm run torture -- [options]
  --round <names>   separated by commas; default: all of ${ROUNDS.map(({ name }) => name).join(", ")}
  --short           a few faults of each kind, as the tests do
  --times <n>       so many faults of each kind, instead of a full run's
  --seed <number>   replays the choices of a run that printed it
`;

interface Values {
  readonly round?: string;
  readonly short: boolean;
  readonly times?: string;
  readonly seed?: string;
}

const values = read();
if (values !== undefined) await run(values);

/** @returns undefined where there is nothing to run; what was wrong has been said */
function read(): Values | undefined {
  const options = {
    round: { type: "string" },
    short: { type: "boolean", default: false },
    times: { type: "string" },
    seed: { type: "string" },
    help: { type: "boolean", short: "h", default: false },
  } as const;
  try {
    const { help, ...given } = parseArgs({ options }).values;
    if (!help) return given;
    process.stdout.write(USAGE);
  } catch (error) {
    refuse(error instanceof Error ? error.message : String(error));
  }
  return undefined;
}

function refuse(why: string): void {
  process.stderr.write(`${why}\n\n${USAGE}`);
  process.exitCode = 2;
}

async function run(values: Values): Promise<void> {
  const names = values.round?.split(",") ?? ROUNDS.map(({ name }) => name);
  const unknown = names.find((name) => !ROUNDS.some((round) => round.name === name));
  if (unknown !== undefined) return refuse(`--round: there is no ${unknown}`);
  const seed = Number(values.seed ?? Math.floor(Math.random() * 0xffffffff));
  const times = values.times === undefined ? undefined : Number(values.times);
  if (!Number.isInteger(seed) || seed < 0) return refuse("--seed takes a whole number");
  if (times !== undefined && !(Number.isInteger(times) && times > 0)) {
    return refuse("--times takes a whole number, and at least 1");
  }
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const told = (end: Ended): void => say([`  ${rowOf(end)}`, ...figuresOf([end])].join("\n"));
  say(`seed ${seed}`);
  await buildAhead();
  const ended = await runRounds({ names, seed, isShort: values.short, times, say, told });
  say(`\n${tableOf(ended)}\n\n${verdictOf(ended)}\nseed ${seed}`);
  process.exitCode = ended.every(({ isRight }) => isRight !== false) ? 0 : 1;
}
