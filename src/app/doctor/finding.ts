export interface Finding {
  readonly level: "ok" | "warning" | "failure";
  readonly check: string;
  readonly message: string;
}

export function ok(about: string, says: string): Finding {
  return { level: "ok", check: about, message: says };
}

export function warning(about: string, says: string): Finding {
  return { level: "warning", check: about, message: says };
}

export function failure(about: string, says: string): Finding {
  return { level: "failure", check: about, message: says };
}
