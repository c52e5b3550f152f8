import type { Config } from "../../config/index.ts";
import type { Inspection } from "../../store/index.ts";
import { configuredSecrets } from "../credential-uses.ts";
import { type Finding, ok, warning } from "./finding.ts";

const DAY_MS = 86_400_000;
/** Platforms redeliver for days, with the secret of the first try; 7 days cover those that say how long. */
const QUIET_DAYS = 7;
const VARIABLES: Readonly<Record<string, string>> = {
  hmac: "SIGNING_SECRET_PREVIOUS",
  token: "CALLBACK_TOKEN_PREVIOUS",
  jwt: "JWT_SECRET_PREVIOUS",
};

/** For each secret that is being rotated out: whether it is still in use, or can go. */
export function checkSecrets(config: Config, found: Inspection, now: Date): Finding[] {
  const about = "secrets";
  const uses = found.exists ? found.credentialUses : [];
  const configured = configuredSecrets(config);
  const useOf = (name: string) => {
    const secret = configured.find((candidate) => candidate.name === name);
    return uses.find((use) => use.name === name && use.fingerprint === secret?.fingerprint);
  };
  const findings = configured
    .filter(({ name }) => name.endsWith(" previous"))
    .map(({ name }): Finding => {
      const [method = ""] = name.split(" ");
      const variable = VARIABLES[method] ?? name;
      const current = useOf(`${method} current`);
      if (current === undefined) {
        return warning(about, `${variable}: keep it; the platform has not used the new secret yet`);
      }
      const last = useOf(name)?.lastUsedAt;
      const quietDays = Math.floor((now.getTime() - Date.parse(last ?? current.firstUsedAt)) / DAY_MS);
      const said = last === undefined ? "was not used since the new one is" : `was last used at ${last}`;
      return quietDays < QUIET_DAYS
        ? warning(about, `${variable}: keep it; it ${said}, less than ${QUIET_DAYS} days ago`)
        : ok(about, `${variable}: can go; it ${said}, ${quietDays} days ago`);
    });
  return findings.length > 0 ? findings : [ok(about, "none is being rotated")];
}
