import type { SourceView } from "../../views.ts";

export interface SecretsWord {
  readonly text: string;
  /** Whether there is something to do. */
  readonly isToDo: boolean;
}

/** The secrets of a source in a word or two. */
export function secretsWord({ authentication, has_tenant_secrets, offered_secrets }: SourceView): SecretsWord {
  const secrets = authentication.flatMap((method) => method.secrets);
  const retirable = secrets.filter(({ can_retire }) => can_retire).length;
  if (retirable > 0) return { text: `${retirable} can go`, isToDo: true };
  const isOffered = offered_secrets.some(({ verifies }) => !verifies);
  if (secrets.length === 0 && isOffered) return { text: "To choose", isToDo: true };
  if (has_tenant_secrets) return { text: "By tenant", isToDo: false };
  if (secrets.length === 0) return { text: "None here", isToDo: false };
  if (secrets.some(({ is_previous }) => is_previous)) return { text: "Rotating", isToDo: false };
  const isUsed = secrets.some(({ last_used_at }) => last_used_at !== null);
  return { text: isUsed ? "In use" : "Not used yet", isToDo: false };
}
