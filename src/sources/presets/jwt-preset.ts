import { errorReason } from "../../domain/index.ts";
import { OptionError } from "../option-error.ts";
import { createJwtScheme, type JwtOptions } from "../schemes/jwt.ts";
import { fixedKeys, type JwtAlgorithm, type JwtKeys, pemKeys, secretKeys } from "../schemes/jwt-keys.ts";
import type { Scheme } from "../schemes/scheme.ts";
import { keysOf } from "../schemes/secret-keys.ts";
import type { SourceEnvironment } from "../source-definition.ts";
import { requiredTexts, type SecretOption } from "./secrets.ts";

/** Of a platform's tokens, unless its preset says otherwise; they bear the times of another clock. */
const USUAL = { issuer: null, audience: null, clockToleranceSeconds: 10, bodyClaim: null } as const;

/** A token's scheme: what a platform does not send is not checked. */
export function platformJwt(options: Omit<JwtOptions, keyof typeof USUAL> & Partial<JwtOptions>): Scheme {
  return createJwtScheme({ ...USUAL, ...options });
}

/** HS256: the current secret first. @throws OptionError for one that cannot be used */
export function sharedSecretKeys(secrets: readonly string[]): JwtKeys {
  return secretKeys(keysOf(secrets));
}

/**
 * Public keys in PEM: the current one first.
 * @param setting the option that chose the algorithm, for the message; left out where the platform has one algorithm
 * @throws OptionError for what holds none, or one of another algorithm
 */
export function publicPemKeys(publicKey: SecretOption, algorithm: JwtAlgorithm, setting?: string): JwtKeys {
  const texts = requiredTexts(publicKey, "publicKey");
  try {
    return fixedKeys(texts.flatMap((pem) => pemKeys(pem, algorithm, setting)));
  } catch (cause) {
    throw new OptionError({ option: "publicKey", problem: errorReason(cause) }, { cause });
  }
}

/**
 * Tokens whose audience is the address that the platform has registered, with or without its query.
 * @param audience another one, where the operator has configured it at the platform
 */
export function createAddressedScheme(
  options: Omit<Parameters<typeof platformJwt>[0], "audience" | "clock">,
  { clock, origin }: SourceEnvironment,
  audience?: string,
): Scheme {
  const { challenge } = platformJwt({ ...options, clock });
  return {
    challenge,
    isCostly: true,
    verify(request) {
      const [path = ""] = request.target.split("?", 1);
      const addresses = [origin() + request.target, origin() + path];
      return platformJwt({ ...options, clock, audience: audience ?? addresses }).verify(request);
    },
  };
}
