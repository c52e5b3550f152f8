/** How a callback ends whose function is killed right behind the answer. */
export type FunctionMode = "after" | "within" | "failing" | "rejected" | "refused";

/** Short, so that a lease of a killed function ends soon: 2 × (400 + 2 × 200) ms. */
export const FUNCTION_LIMITS = { REQUEST_TIMEOUT_MS: "400", HANDLER_TIMEOUT_MS: "200" };
