/** The request line of a callback, for tests of schemes that sign nothing of it. */
export const POSTED = { method: "POST", target: "/api/platform/callback" } as const;
