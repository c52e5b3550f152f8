import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { createRunLock } from "../../src/pipeline/index.ts";

it("a suspect's run waits for the runs under way, and runs that come later wait for the suspect's", async () => {
  const turns = createRunLock();
  const started: string[] = [];
  const ends = { first: Promise.withResolvers<void>(), suspect: Promise.withResolvers<void>() };
  const run = (name: string, end?: Promise<void>) => async () => {
    started.push(name);
    await end;
  };
  const runs = [
    turns.shared(run("first", ends.first.promise)),
    turns.shared(run("second")),
    turns.exclusive(run("suspect", ends.suspect.promise)),
    turns.shared(run("later")),
    turns.exclusive(run("next suspect")),
  ];
  await nextTurn();
  expect(started).toEqual(["first", "second"]);
  ends.first.resolve();
  await nextTurn();
  expect(started).toEqual(["first", "second", "suspect"]);
  ends.suspect.resolve();
  await Promise.all(runs);
  expect(started).toEqual(["first", "second", "suspect", "later", "next suspect"]);
});

it("a run that fails holds up neither a suspect nor the runs after it", async () => {
  const turns = createRunLock();
  const fails = () => Promise.reject(new Error("the handler failed"));
  const runs = [turns.shared(fails), turns.exclusive(fails), turns.shared(async () => "ran")];
  expect((await Promise.allSettled(runs)).map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
});

it("suspects run one by one, also where nothing runs between them", async () => {
  const turns = createRunLock();
  const started: string[] = [];
  const gate = Promise.withResolvers<void>();
  const runs = ["first", "second"].map((name) =>
    turns.exclusive(async () => {
      started.push(name);
      await gate.promise;
    }),
  );
  await nextTurn();
  expect(started).toEqual(["first"]);
  gate.resolve();
  await Promise.all(runs);
  expect(started).toEqual(["first", "second"]);
});
