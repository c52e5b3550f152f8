/**
 * A text as a segment of a path, still to be percent-encoded. Every parser of addresses takes `.` and `..` away, percent-encoded or
 * not (URL Standard, "double-dot URL path segment"), and platforms may have ids of that kind: so they have a `~` before them, and
 * what would then look like one of them another `~`. Every other text is left as it is.
 */
export function asSegment(text: string): string {
  return /^~*\.{1,2}$/.test(text) ? `~${text}` : text;
}

/** The text that `asSegment` was given. @param segment no longer percent-encoded */
export function ofSegment(segment: string): string {
  return /^~+\.{1,2}$/.test(segment) ? segment.slice(1) : segment;
}
