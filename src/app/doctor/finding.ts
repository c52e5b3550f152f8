/** What one check of `doctor` found, and what to do where it is not `ok`. */
export interface Finding {
  readonly verdict: "ok" | "warning" | "failure";
  readonly about: string;
  readonly says: string;
}

export function ok(about: string, says: string): Finding {
  return { verdict: "ok", about, says };
}

export function warning(about: string, says: string): Finding {
  return { verdict: "warning", about, says };
}

export function failure(about: string, says: string): Finding {
  return { verdict: "failure", about, says };
}
