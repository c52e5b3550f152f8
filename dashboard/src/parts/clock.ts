import { useSyncExternalStore } from "react";

const EVERY_MS = 1_000;
const told = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** The time in milliseconds, in whole seconds; who uses it is drawn anew with each. One timer serves all of them. */
export function useClock(): number {
  return useSyncExternalStore(subscribe, () => Math.floor(Date.now() / EVERY_MS) * EVERY_MS);
}

/** Whether this moment, in milliseconds, is past; who uses it is drawn anew when it comes. */
export function useIsPast(moment: number): boolean {
  return useSyncExternalStore(subscribe, () => Date.now() > moment);
}

function subscribe(tell: () => void): () => void {
  told.add(tell);
  timer ??= setInterval(() => {
    for (const one of told) one();
  }, EVERY_MS);
  return () => {
    told.delete(tell);
    if (told.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}
