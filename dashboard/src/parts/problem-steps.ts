/** The next step by the kind of a problem; each begins in its panel, where its effect is said. */
export const PROBLEM_STEPS = { failure: "Dry run", refusal: "See remedy", delivery: "Check channel" } as const;

/** The source of a problem; the channel of failed deliveries, which is none. */
export function sourceOrChannel({ kind, source }: { readonly kind: string; readonly source: string }): string {
  return kind === "delivery" ? `channel ${source}` : source;
}
