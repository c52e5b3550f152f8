import type { SourcesView } from "../admin/index.ts";
import type { AuthMethod, Config } from "../config/index.ts";
import { endpointPaths } from "../http/index.ts";
import type { StoredCredentialUse } from "../store/index.ts";
import type { ConfiguredSource } from "./configured-sources.ts";
import type { ConfiguredSecret } from "./credential-uses.ts";
import { rotationAdvice } from "./doctor/check-secrets.ts";
import type { RegisteredAddress } from "./platform.ts";

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

/** The addresses of a source beside the platform, exactly as its platform registers them. */
export function sourceAddresses(
  { name, definition }: ConfiguredSource,
  baseUrl: string,
  oauthScopePath: string,
): RegisteredAddress[] {
  const sources = [{ source: name, path: definition.settings.path }];
  return endpointPaths("", oauthScopePath, { sources })
    .callbacks.filter(({ source }) => source === name)
    .map(({ path, version }) => ({ url: `${baseUrl}${path}`, version }));
}

interface ServedTypes {
  readonly addresses: readonly RegisteredAddress[];
  readonly types: readonly string[];
}

/** What the Sources page shows of a source beside the platform. */
export function sourceView(
  { name, definition }: ConfiguredSource,
  { addresses, types }: ServedTypes,
  noted: NotedUses,
): SourceView {
  const { facts, hmac } = definition;
  const own = noted.secrets.filter(({ source }) => source === name);
  const header = [hmac?.signature.header ?? []].flat().join(", ");
  return {
    source: name,
    addresses: addresses.map(({ url, version }) => {
      return { url, version, method: "POST", event_types: [...new Set(types)] };
    }),
    authenticated_by: `the secret of ${facts.title}`,
    authentication: [{ method: "secret", header, secrets: secretViews(own, noted) }],
  };
}
