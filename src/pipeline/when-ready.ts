/** Goes on at once with a value that is there, and later with one that has to be waited for. */
export function whenReady<T>(
  value: T | Promise<T>,
  next: (value: T) => void,
  fail: (error: unknown) => void,
): void {
  if (value instanceof Promise) value.then(next).catch(fail);
  else next(value);
}
