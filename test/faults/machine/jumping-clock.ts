/** Loaded into a receiver with `--import`: its clock jumps, back or forth by up to a day, at each SIGUSR2. */
const MAX_MS = 24 * 3_600_000;
const RealDate = Date;
let shift = 0;

class ShiftedDate extends RealDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(RealDate.now() + shift);
    else super(...(given as [number]));
  }

  static override now(): number {
    return RealDate.now() + shift;
  }
}

globalThis.Date = ShiftedDate as DateConstructor;
process.on("SIGUSR2", () => {
  shift = Math.round((Math.random() * 2 - 1) * MAX_MS);
});
