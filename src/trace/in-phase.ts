import type { Phase } from "./tracer.ts";

/** Runs it in this phase and ends the phase with what it comes to; without a phase it only runs. */
export function inPhase<Args extends readonly unknown[], Came extends object>(
  phase: Phase | undefined,
  run: (...args: Args) => Promise<Came>,
  ...args: Args
): Promise<Came> {
  return phase === undefined ? run(...args) : followed(phase, () => run(...args));
}

async function followed<Came extends object>(phase: Phase, run: () => Promise<Came>): Promise<Came> {
  try {
    const came = await phase.within(run);
    phase.end(came);
    return came;
  } catch (error) {
    phase.fail(error);
    throw error;
  }
}
