/** Event types stand in a header and in metric labels, so they keep to one plain word. */
const TYPE = /^(?:[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}|[A-Za-z0-9][A-Za-z0-9._:/-]{0,126}[._:/-]\*|\*)$/;

/** What `isTypePattern` accepts, for messages. */
export const TYPE_PATTERN_EXPECTED =
  'expected up to 128 letters, digits or . _ : / -, a pattern such as "invoice.*", or "*"';

/** Whether a text is an event type, or a pattern of types: `invoice.*` or `*`. */
export function isTypePattern(text: unknown): text is string {
  return typeof text === "string" && TYPE.test(text);
}

export function fitsTypePattern(pattern: string, type: string): boolean {
  return pattern.endsWith("*") ? type.startsWith(pattern.slice(0, -1)) : type === pattern;
}
