/**
 * V8 writes a line for each garbage collection, which says how many bytes were allocated since the one before: in all
 * heaps of the process, without an inspector, and for next to no time.
 */
export const TRACE_OPTIONS: readonly string[] = ["--trace-gc-nvp"];

/** The bytes that a server's output says were allocated. Buffers outside of V8's heaps are not among them. */
export function allocatedBytes(output: string): number {
  return [...output.matchAll(/ gc=\w+ .*?\ballocated=(\d+)/g)].reduce((sum, [, bytes]) => sum + Number(bytes), 0);
}
