/**
 * At most so many in a stretch of time, which begins with the first of them. A clock that is set back begins another one.
 * @returns whether one more may be, at this time; one that may not is not counted
 */
export function atMost(count: number, stretchMs: number): (now: Date) => boolean {
  let begun = Number.NEGATIVE_INFINITY;
  let counted = 0;
  return (now) => {
    const time = now.getTime();
    if (time - begun >= stretchMs || time < begun) {
      begun = time;
      counted = 0;
    }
    if (counted >= count) return false;
    counted += 1;
    return true;
  };
}
