import { type Config, ConfigError } from "../../config/index.ts";
import { systemClock } from "../../domain/index.ts";
import { boundedFetch } from "../../fetch/index.ts";
import { diagnosisSecrets } from "../diagnosis-secrets.ts";
import { methodsInWords, platformScheme, unprotectedBody } from "../platform-scheme.ts";
import { type Finding, failure, ok, warning } from "./finding.ts";

const TIME_LIMIT_MS = 5_000;

/** That callbacks can be authenticated: the files can be read, the platform's keys can be fetched. */
export async function checkAuthentication(config: Config): Promise<Finding[]> {
  const about = "authentication";
  try {
    await platformScheme(config, systemClock);
    await diagnosisSecrets(config);
  } catch (error) {
    if (error instanceof ConfigError) return [failure(about, error.problems.join("; "))];
    throw error;
  }
  const { jwt } = config.authentication;
  const open = unprotectedBody(config);
  const findings = open === undefined ? [] : [warning(about, open)];
  if (jwt?.keys.from === "jwks") findings.push(await reach(about, jwt.keys.url));
  if (findings.length > 0) return findings;
  return [ok(about, `callbacks are authenticated by ${methodsInWords(config)}`)];
}

async function reach(about: string, url: string): Promise<Finding> {
  try {
    const response = await boundedFetch(url, { signal: AbortSignal.timeout(TIME_LIMIT_MS) });
    const { keys } = (await response.json()) as { keys?: unknown };
    if (!Array.isArray(keys))
      return failure(about, `JWT_JWKS_URL: ${url} answers ${response.status} and no JWK Set`);
    return ok(about, `JWT_JWKS_URL: ${url} publishes ${keys.length} keys`);
  } catch (error) {
    return failure(about, `JWT_JWKS_URL: ${url} does not answer with a JWK Set: ${String(error)}`);
  }
}
