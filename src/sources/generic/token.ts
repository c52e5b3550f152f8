import { optionError } from "../option-error.ts";
import { assertText } from "../presets/options.ts";
import { type OwnContract, ownSource } from "../presets/own-source.ts";
import { type PresetOptions, secretParts } from "../presets/secrets.ts";
import { createBasicScheme, createTokenScheme } from "../schemes/token.ts";
import type { SourceDefinition } from "../source-definition.ts";

/** A sender that shows a fixed text and signs nothing: a client that reads one callback can make others. */
export interface TokenSourceOptions extends PresetOptions, OwnContract {
  /** The header of the token, such as `X-Acme-Token`; in `Authorization` it is a bearer token unless `prefix` says otherwise. */
  readonly header?: string;
  /** The exact text before the token; with an empty one `Authorization` holds only the token. */
  readonly prefix?: string;
  /** Basic authentication instead: the user, whose password is `secret`. */
  readonly user?: string;
}

const KIND = { preset: "token", title: "Token", schemeOptions: ["secret", "header", "prefix", "user"] };

/** A token in a header, or basic authentication. @throws OptionError that names the option that is wrong */
export function token(options: TokenSourceOptions): SourceDefinition {
  return ownSource(KIND, options, () => {
    const { header, prefix, user } = options;
    if (user === undefined) assertText("header", header, "X-Acme-Token, or `user` for basic authentication");
    else {
      assertText("user", user, "acme");
      if (header !== undefined || prefix !== undefined)
        throw optionError("user", "`header` or `prefix` as well", "one way or the other");
    }
    const use = { settings: options, mismatch: "token_mismatch" } as const;
    return {
      ...secretParts(options.secret, use, (secrets) =>
        user === undefined
          ? createTokenScheme({
              tokens: secrets,
              header: String(header),
              ...(prefix !== undefined && { prefix }),
            })
          : createBasicScheme(secrets.map((password) => ({ user, password }))),
      ),
      credential: { headers: [header ?? "Authorization"] },
    };
  });
}
