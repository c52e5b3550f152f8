/** The next step by the kind of a problem; each begins in its panel, where its effect is said. */
export const PROBLEM_STEPS = { failure: "Dry run", refusal: "See remedy", delivery: "Deliver again" } as const;
