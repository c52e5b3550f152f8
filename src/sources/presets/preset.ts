import { type ContractData, createEventContract } from "../contract/event-contract.ts";
import { compileFilters } from "../contract/event-filter.ts";
import { createSample } from "../contract/sample.ts";
import type { OwnSample } from "../contract/sample-draft.ts";
import { visitAddress } from "../contract/visit.ts";
import type { ReconcileOptions, Reconciliation } from "../reconcile/reconciliation.ts";
import { createHmacScheme } from "../schemes/hmac.ts";
import type { HmacData } from "../schemes/hmac-data.ts";
import { isUsable, learningScheme, type SecretLookup } from "../schemes/learnt-secrets.ts";
import type { CredentialPlaces } from "../schemes/scheme.ts";
import { signHmacRequest } from "../schemes/sign-hmac.ts";
import { coversPath, signedPlaces } from "../schemes/signed-content.ts";
import type { TenantSecrets } from "../schemes/tenant-scheme.ts";
import type {
  PlatformFacts,
  SourceDefinition,
  SourceEnvironment,
  SourceSettings,
} from "../source-definition.ts";
import { credentialPhrase, withHandshakes } from "./credential-places.ts";
import type { OwnOptions, Preset } from "./describe.ts";
import { assertNoFault, givenTexts, type SecretOption } from "./given-secrets.ts";
import { atRegisteredUrl } from "./registered-url.ts";
import samples from "./samples.json" with { type: "json" };
import { type MakeScheme, type SecretParts, secretParts } from "./secret-parts.ts";
import { assertKnown, assertReconcilable, SETTING_NAMES, settingsOf } from "./source-settings.ts";
import { assertTenantsApart, refuseFunction, refuseTenants } from "./tenants.ts";

export interface PresetOptions extends SourceSettings {
  /**
   * As the platform shows it; several while it is rotated, the current one first: all of them verify. A function of the
   * path's parameters where each tenant has secrets of its own: `path: "/hooks/:shop"`, `secret: ({ params }) => …`.
   */
  readonly secret: SecretOption | TenantSecrets;
}

/** Options of a preset that needs its secret for more than to verify, so that its tenants cannot have their own. */
export interface FixedSecretOptions extends SourceSettings {
  /** As the platform shows it; several while it is rotated, the current one first: all of them verify. */
  readonly secret: SecretOption;
}

/** Options of a platform whose API lists the events. */
export interface ReconcilingOptions extends PresetOptions {
  /** Finds the events that never arrived: docs/reconcile.md. */
  readonly reconcile?: ReconcileOptions;
}

/** Options of a platform that chooses its secret itself, and sends it when the address is registered. */
export interface LearningOptions extends SourceSettings {
  /** One that is known already. */
  readonly secret?: SecretOption;
}

export interface SourceParts
  extends SecretParts,
    Pick<SourceDefinition, "preset" | "facts" | "hmac" | "sign" | "signBody" | "reconcile"> {
  readonly settings: SourceSettings;
  /** Where the scheme reads what proves a callback. */
  readonly credential: CredentialPlaces;
  readonly contract: ContractData;
  /** Whether a scheme can be made with a secret that the platform sends; every one when left out. */
  readonly isUsable?: (secret: string) => boolean;
  /** A callback in the platform's shape; without one it has what the contract reads, and nothing else. */
  readonly sample?: OwnSample | undefined;
}

/** The samples that are data, by their preset. */
const SAMPLES: Readonly<Record<string, OwnSample>> = samples;
const NOTHING: readonly string[] = [];
const NOTHING_LEARNT: SecretLookup = { learntSecrets: () => NOTHING, lookForSecrets: () => undefined };
const NOWHERE: SourceEnvironment = { name: "", clock: { now: () => new Date() }, origin: () => "" };

/**
 * A source of any scheme.
 * @throws TypeError that names the option that is wrong, here and not at the start: the stack names the configuration's line
 */
export function defineSource(parts: SourceParts): SourceDefinition {
  const {
    scheme,
    credential,
    isUsable = () => true,
    signsPath: _path,
    tenantOption: _option,
    ...others
  } = parts;
  const { preset, facts } = parts;
  const settings = settingsOf(preset, parts.settings);
  const { unhandled = parts.contract.unhandled, identity: wanted = parts.contract.identity } = settings;
  if (parts.reconcile !== undefined) assertReconcilable(preset, settings);
  assertTenantsApart(parts, settings);
  const { renewsTimestamp } = facts;
  const { invalid } = settings;
  const contract = { renewsTimestamp, ...parts.contract, unhandled, invalid, identity: wanted };
  named(preset, () => scheme(NOWHERE));
  const { hasSignedTime, identity } = named(preset, () => createEventContract(contract, NOWHERE));
  const isWanted = compileFilters(settings);
  return atRegisteredUrl({
    ...others,
    settings,
    identity,
    hasSignedTime,
    credential: credentialPhrase(credential),
    credentialPlaces: withHandshakes(credential, contract),
    createScheme: scheme,
    ...(learns(contract) && { learns: true }),
    createContract({ learning, ...environment }) {
      const learn = (secret: string, address?: string) =>
        learning !== undefined && isUsable(secret) && learning.learn(secret, address);
      const created = createEventContract(contract, { visit: visitAddress, ...environment, learn });
      return isWanted === undefined ? created : { ...created, isWanted };
    },
    sample: createSample(contract, identity, parts.sample ?? SAMPLES[preset]),
  });
}

/** Schemes and contracts do not know their preset. @throws TypeError that names it */
function named<T>(preset: string, make: () => T): T {
  try {
    return make();
  } catch (cause) {
    if (!(cause instanceof TypeError) || cause.message.includes(": `")) throw cause;
    throw new TypeError(`${preset}: ${cause.message}`, { cause });
  }
}

function learns({ handshakes = [] }: ContractData): boolean {
  return handshakes.some(({ reply }) => reply.kind === "learn");
}

/** What an HMAC preset is made of; a part that depends on the options is a function of them. */
export interface HmacPreset<Options extends ReconcilableOptions> {
  readonly preset: string;
  readonly facts: PlatformFacts;
  readonly scheme: HmacData | ((options: Options) => HmacData);
  readonly contract: ContractData | ((options: Options, secrets: readonly string[]) => ContractData);
  /** Its contract needs the secret, which cannot be that of a tenant then. */
  readonly answersWithSecret?: true;
  readonly own?: OwnOptions<Options, "secret" | "reconcile">;
  /** What is wrong with a secret that the scheme could use; undefined where nothing is. */
  readonly secretFault?: (secret: string) => string | undefined;
  /** The other options that scheme and contract need, made up, for the description of the preset. */
  readonly example?: Partial<Options>;
  /** Texts beside the secret that no log may show, such as a verify token. @throws TypeError where one is missing */
  readonly otherSecrets?: (options: Options) => readonly string[];
  /** @throws TypeError that names the option that is wrong */
  readonly reconcile?: (options: NonNullable<Options["reconcile"]>) => Reconciliation;
  /** A callback in the platform's shape; without one it has what the contract reads, and nothing else. */
  readonly sample?: OwnSample;
}

/** A preset's options that may have `reconcile`; most presets ignore it, since their platforms list no events. */
interface ReconcilableOptions extends SourceSettings {
  readonly secret?: SecretOption | TenantSecrets;
  readonly reconcile?: ReconcileOptions;
}

/**
 * A preset whose platform signs with a shared secret.
 * @returns a function of the secret and the source's settings @throws TypeError that names the option that is wrong
 */
export function hmacPreset<Options extends ReconcilableOptions = PresetOptions>(
  data: HmacPreset<Options>,
): Preset<Options> {
  const { preset, facts } = data;
  const own = [...(data.reconcile === undefined ? [] : ["reconcile"]), ...Object.keys(data.own ?? {})];
  const known = ["secret", ...own, ...SETTING_NAMES];
  const schemeOf = (options: Options) =>
    typeof data.scheme === "function" ? data.scheme(options) : data.scheme;
  function contractOf(options: Options, secrets: readonly string[]): ContractData {
    const contract = typeof data.contract === "function" ? data.contract(options, secrets) : data.contract;
    return { ...contract, signs: signedPlaces(schemeOf(options).signed, isJson(contract)) };
  }
  function create(options: Options): SourceDefinition {
    assertKnown(preset, options, known);
    const { secret } = options;
    if (data.answersWithSecret) {
      const proof = `, since ${facts.title} asks in a handshake for a proof of one fixed secret`;
      refuseFunction(preset, "secret", secret, proof);
    }
    const secrets = typeof secret === "function" ? [] : givenTexts(preset, secret);
    assertNoFault(preset, secrets, (one) => data.secretFault?.(one));
    const scheme = schemeOf(options);
    const contract = contractOf(options, secrets);
    const isLearning = learns(contract);
    if (isLearning) refuseTenants(preset, facts.title, options);
    const [current] = secrets;
    const reconcile = options.reconcile && data.reconcile?.(options.reconcile);
    const apiKeys = [options.reconcile?.apiKey].filter((key) => key !== undefined);
    const make = (all: readonly string[], { clock, origin }: SourceEnvironment) =>
      createHmacScheme(scheme, { secrets: all, clock, origin });
    const use = { settings: options, signsPath: coversPath(scheme.signed) };
    const parts = isLearning ? learningParts(secrets, make) : secretParts(preset, secret, use, make);
    // Secrets of tenants come later, and how the platform signs is looked at now.
    if (parts.hasTenantSecrets && typeof scheme.key !== "function") make([ANY_FORMAT], NOWHERE);
    return defineSource({
      preset,
      facts,
      settings: options,
      ...parts,
      ...(data.answersWithSecret && { tenantOption: undefined }),
      secrets: [...secrets, ...(data.otherSecrets?.(options) ?? []), ...apiKeys],
      contract,
      hmac: scheme,
      sample: data.sample,
      credential: { headers: [scheme.signature.header].flat() },
      ...(current !== undefined && {
        sign: (request) => signHmacRequest(scheme, { ...request, secret: current }),
      }),
      ...(reconcile !== undefined && { reconcile }),
    });
  }
  create.describe = () => {
    const options = { secret: EXAMPLE_SECRET, ...data.example } as Options;
    const contract = contractOf(options, [EXAMPLE_SECRET]);
    return { preset, facts, signs: schemeOf(options), contract, ...(data.own && { own: data.own }) };
  };
  return create;
}

function learningParts(
  secrets: readonly string[],
  make: MakeScheme,
): SecretParts & Pick<SourceParts, "isUsable"> {
  return {
    secrets,
    isUsable: (secret) => isUsable(secret, (all) => make(all, NOWHERE)),
    scheme: (environment) =>
      learningScheme(environment.learning ?? NOTHING_LEARNT, secrets, (all) => make(all, environment)),
  };
}

export function isJson({ body = "json" }: ContractData): boolean {
  return body === "json";
}

const EXAMPLE_SECRET = "of no source";
/** A text, hexadecimal digits and base64. */
const ANY_FORMAT = "0".repeat(64);
