import { type ContractData, createEventContract } from "../contract/event-contract.ts";
import { compileFilters } from "../contract/event-filter.ts";
import type { Handshake } from "../contract/handshakes.ts";
import { createSample } from "../contract/sample.ts";
import type { OwnSample } from "../contract/sample-draft.ts";
import { visitAddress } from "../contract/visit.ts";
import { naming } from "../option-error.ts";
import type { CredentialPlaces } from "../schemes/scheme.ts";
import type { SourceDefinition, SourceEnvironment, SourceSettings } from "../source-definition.ts";
import { credentialPhrase, namesAt, withHandshakes } from "./credential-places.ts";
import { atRegisteredUrl } from "./registered-url.ts";
import samples from "./samples.json" with { type: "json" };
import { assertTenantsApart, type SecretParts } from "./secrets.ts";
import { assertReconcilable, settingsOf } from "./source-settings.ts";

export interface SourceParts
  extends SecretParts,
    Pick<
      SourceDefinition,
      "preset" | "facts" | "hmac" | "signsAddress" | "sign" | "signBody" | "listsEvents" | "reconcile"
    > {
  readonly settings: SourceSettings;
  /** The places from which the scheme reads the proof of a callback. */
  readonly credential: CredentialPlaces;
  readonly contract: ContractData;
  /** A callback in the platform's shape; without one it has what the contract reads, and nothing else. */
  readonly sample?: OwnSample | undefined;
}

/** The samples that are data, by their preset. */
const SAMPLES: Readonly<Record<string, OwnSample>> = samples;
/** A scheme and a contract are made once before the start, so a wrong option fails where it is written. */
const BEFORE_START: SourceEnvironment = { name: "", clock: { now: () => new Date() }, origin: () => "" };

/**
 * A source of any scheme.
 * @throws OptionError that names the option that is wrong, here and not at the start: the stack names the configuration's line
 */
export function defineSource(parts: SourceParts): SourceDefinition {
  const { scheme, credential, isUsable, signsPath, tenantOption, ...rest } = parts;
  return naming({ preset: parts.preset }, () => {
    const settings = settingsOf(parts.settings);
    if (parts.reconcile !== undefined) assertReconcilable(settings);
    assertTenantsApart(parts, settings);
    const { invalid, unhandled = parts.contract.unhandled, identity = parts.contract.identity } = settings;
    const { renewsTimestamp } = parts.facts;
    const contract = { renewsTimestamp, ...parts.contract, unhandled, invalid, identity };
    const [secret] = parts.secrets;
    scheme(BEFORE_START);
    const compiled = createEventContract(contract, { ...BEFORE_START, secret });
    const isWanted = compileFilters(settings);
    return atRegisteredUrl({
      ...rest,
      signsAddress: settings.url === undefined && (parts.signsAddress === true || provesAddress(contract)),
      settings,
      identity: compiled.identity,
      hasSignedTime: compiled.hasSignedTime,
      credential: credentialPhrase(credential),
      credentialPlaces: withHandshakes(credential, contract),
      ...base64FieldsOf(contract),
      createScheme: scheme,
      ...(learnsSecret(contract) && { learns: true }),
      createContract({ learning, ...environment }) {
        const learn = (learnt: string, address?: string) =>
          learning !== undefined && isUsable?.(learnt) !== false && learning.learn(learnt, address);
        const created = createEventContract(contract, { visit: visitAddress, ...environment, secret, learn });
        return isWanted === undefined ? created : { ...created, isWanted };
      },
      sample: createSample(contract, compiled.identity, parts.sample ?? SAMPLES[parts.preset]),
    });
  });
}

function base64FieldsOf({ decode = [] }: ContractData): Pick<SourceDefinition, "base64Fields"> {
  const places = decode.filter(({ as }) => as === "base64-json").map(({ at }) => at);
  return places.length === 0 ? {} : { base64Fields: namesAt(places).fields };
}

/** Whether the platform chooses the secret, and sends it in a handshake. */
export function learnsSecret({ handshakes = [] }: ContractData): boolean {
  return handshakes.some(({ reply }) => reply.kind === "learn");
}

/** Whether the response to a handshake holds the registered address, as eBay's does. */
function provesAddress({ handshakes = [] }: ContractData): boolean {
  const isProof = (value: unknown) => {
    const { sha256 = [] } = Object(value) as { readonly sha256?: readonly string[] };
    return sha256.includes("url");
  };
  return handshakes.some(({ reply }) => reply.kind === "json" && Object.values(reply.fields).some(isProof));
}

/** Whether a handshake asks for a proof of the source's secret, which must be one fixed secret then. */
export function provesSecret({ handshakes = [] }: ContractData): boolean {
  const isProof = (value: unknown) => typeof value === "object" && value !== null && "hmac" in value;
  const fieldsOf = ({ reply }: Handshake) => (reply.kind === "json" ? Object.values(reply.fields) : []);
  return handshakes.flatMap(fieldsOf).some(isProof);
}
