/** `npm run torture`: breaks everything, many times, and holds the books against each other. See docs/reliability.md. */
import { parseArgs } from "node:util";
import { ROUNDS } from "./rounds/index.ts";
import { runRounds } from "./run-rounds.ts";
import { tableOf } from "./table.ts";

const USAGE = `npm run torture -- [options]
  --round <names>   separated by commas; default: all of ${ROUNDS.map(({ name }) => name).join(", ")}
  --short           a few faults of each kind, as the tests do
  --times <n>       so many faults of each kind, instead of a full run's
  --seed <number>   replays the choices of a run that printed it
`;

const { values } = parseArgs({
  options: {
    round: { type: "string" },
    short: { type: "boolean", default: false },
    times: { type: "string" },
    seed: { type: "string" },
  },
});

const names = values.round?.split(",") ?? ROUNDS.map(({ name }) => name);
const unknown = names.find((name) => !ROUNDS.some((round) => round.name === name));
const seed = Number(values.seed ?? Math.floor(Math.random() * 0xffffffff));
const times = values.times === undefined ? undefined : Number(values.times);
const isWhole = (value: number | undefined) => value === undefined || (Number.isInteger(value) && value >= 0);

if (unknown !== undefined || !isWhole(seed) || !isWhole(times)) {
  process.stderr.write(
    unknown === undefined
      ? `--seed and --times take whole numbers\n\n${USAGE}`
      : `--round: no ${unknown}\n\n${USAGE}`,
  );
  process.exitCode = 2;
} else {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  say(`seed ${seed}`);
  const ended = await runRounds({ names, seed, isShort: values.short, times, say });
  say(`\n${tableOf(ended)}\nseed ${seed}`);
  process.exitCode = ended.every(({ isRight }) => isRight !== false) ? 0 : 1;
}
