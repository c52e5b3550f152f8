import type { SourcesView } from "../admin/index.ts";
import type { AuthMethod, Config } from "../config/index.ts";
import type { StoredCredentialUse } from "../store/index.ts";
import type { ConfiguredSource } from "./configured-sources.ts";
import type { ConfiguredSecret } from "./credential-uses.ts";
import { rotationAdvice } from "./doctor/check-secrets.ts";

export type SourceView = SourcesView["items"][number];

export interface NotedUses {
  readonly secrets: readonly ConfiguredSecret[];
  readonly uses: readonly StoredCredentialUse[];
  readonly now: Date;
}

export function authenticationOf(config: Config, noted: NotedUses): SourceView["authentication"] {
  const { methods, token, jwt } = config.authentication;
  const headers: Record<AuthMethod, string> = {
    hmac: "X-Signature",
    token: token.header,
    jwt: jwt?.header ?? "",
  };
  return [...new Set(methods.flat())].map((method) => {
    const own = noted.secrets.filter((secret) => secret.method === method);
    return { method, header: headers[method], secrets: secretViews(own, noted) };
  });
}

/** @param own of one method of one source, the current one first */
function secretViews(own: readonly ConfiguredSecret[], { uses, now }: NotedUses) {
  const noteOf = (secret: ConfiguredSecret | undefined) =>
    uses.find((use) => use.method === secret?.method && use.fingerprint === secret.fingerprint);
  return own.map((secret) => ({
    name: secret.name,
    is_previous: secret.isPrevious,
    last_used_at: noteOf(secret)?.lastUsedAt ?? null,
    advice: secret.isPrevious ? rotationAdvice(noteOf(secret), noteOf(own[0]), now).message : null,
  }));
}

/** The secrets of a source beside the platform. */
export function sourceAuthentication(
  { name, definition }: ConfiguredSource,
  noted: NotedUses,
): SourceView["authentication"] {
  const own = noted.secrets.filter(({ source }) => source === name);
  const header = [definition.hmac?.signature.header ?? []].flat().join(", ");
  return [{ method: "secret", header, secrets: secretViews(own, noted) }];
}
