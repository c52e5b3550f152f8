/** Lets runs of failures go on beside each other, and a suspect alone: a process that ends then ended during its run. */
export interface RunTurns {
  beside<T>(run: () => Promise<T>): Promise<T>;
  /** Waits for the runs that have begun; those that come later wait for this one. */
  alone<T>(run: () => Promise<T>): Promise<T>;
}

export function createRunTurns(): RunTurns {
  /** Resolves when the last run that goes alone has ended. */
  let lastAlone: Promise<unknown> = Promise.resolve();
  let running: Promise<unknown>[] = [];

  function note<T>(run: Promise<T>): Promise<T> {
    const settled = run.then(
      () => {},
      () => {},
    );
    running.push(settled);
    void settled.then(() => {
      running = running.filter((one) => one !== settled);
    });
    return run;
  }

  return {
    beside(run) {
      return note(lastAlone.then(run));
    },
    alone(run) {
      const mine = Promise.all([lastAlone, ...running]).then(run);
      lastAlone = mine.then(
        () => {},
        () => {},
      );
      return mine;
    },
  };
}
