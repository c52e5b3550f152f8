import { assertOptions, assertText, contractOf, type OwnContract } from "../presets/own-source.ts";
import { defineSource, type PresetOptions } from "../presets/preset.ts";
import { secretParts } from "../presets/secret-parts.ts";
import { createBasicScheme, createTokenScheme } from "../schemes/token.ts";
import type { SourceDefinition } from "../source-definition.ts";

/** A sender that shows a fixed text and signs nothing: a client that reads one callback can make others. */
export interface TokenSourceOptions extends PresetOptions, OwnContract {
  /** Where the token stands, such as `X-Acme-Token`; in `Authorization` it is a bearer token unless `prefix` says otherwise. */
  readonly header?: string;
  /** What precedes the token, exactly; with an empty text `Authorization` holds the token alone. */
  readonly prefix?: string;
  /** Basic authentication instead: the user, whose password is `secret`. */
  readonly user?: string;
}

const OWN = ["secret", "header", "prefix", "user"];

/** A token in a header, or basic authentication. @throws TypeError that names the option that is wrong */
export function token(options: TokenSourceOptions): SourceDefinition {
  assertOptions("token", options, OWN);
  const { header, prefix, user } = options;
  if (user === undefined)
    assertText("token", "header", header, "X-Acme-Token, or `user` for basic authentication");
  else {
    assertText("token", "user", user, "acme");
    if (header !== undefined || prefix !== undefined)
      throw new TypeError("token: `user`: got `header` or `prefix` as well, expected one way or the other");
  }
  return defineSource({
    preset: "token",
    facts: { title: "Token", docs: "docs/sources.md", proof: "own" },
    settings: options,
    ...secretParts("token", options.secret, { settings: options, mismatch: "token_mismatch" }, (secrets) =>
      user === undefined
        ? createTokenScheme({
            tokens: secrets,
            header: String(header),
            ...(prefix !== undefined && { prefix }),
          })
        : createBasicScheme(secrets.map((password) => ({ user, password }))),
    ),
    credential: { headers: [header ?? "Authorization"] },
    contract: contractOf(options, OWN),
  });
}
