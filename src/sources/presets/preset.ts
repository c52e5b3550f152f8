import { type ContractData, createEventContract } from "../contract/event-contract.ts";
import { compileFilters } from "../contract/event-filter.ts";
import { createSample } from "../contract/sample.ts";
import type { OwnSample } from "../contract/sample-draft.ts";
import { visitAddress } from "../contract/visit.ts";
import type { ReconcileOptions, Reconciliation } from "../reconcile/reconciliation.ts";
import { createHmacScheme } from "../schemes/hmac.ts";
import type { HmacData } from "../schemes/hmac-data.ts";
import { isUsable, learningScheme, type SecretLookup } from "../schemes/learnt-secrets.ts";
import type { Scheme } from "../schemes/scheme.ts";
import { signHmacRequest } from "../schemes/sign-hmac.ts";
import { coversPath } from "../schemes/signed-content.ts";
import { createTenantScheme, type TenantSecrets } from "../schemes/tenant-scheme.ts";
import type {
  PlatformFacts,
  SourceDefinition,
  SourceEnvironment,
  SourceSettings,
} from "../source-definition.ts";
import { describe, describeHmac, type Preset } from "./describe.ts";
import { settingsOf } from "./source-settings.ts";

/** One secret, or all of a rotation; those that are undefined are left out, so that an unset variable names none. */
export type SecretOption = string | undefined | readonly (string | undefined)[];

export interface PresetOptions extends SourceSettings {
  /**
   * As the platform shows it; several while it is rotated, the current one first: all of them verify. A function of the
   * path's parameters where each tenant has secrets of its own: `path: "/hooks/:shop"`, `secret: ({ params }) => …`.
   */
  readonly secret: SecretOption | TenantSecrets;
}

/** Options of a platform that chooses its secret itself, and sends it when the address is registered. */
export interface LearningOptions extends SourceSettings {
  /** One that is known already. */
  readonly secret?: SecretOption | TenantSecrets;
}

interface SourceParts
  extends Pick<
    SourceDefinition,
    "preset" | "facts" | "hmac" | "sign" | "reconcile" | "credential" | "hasTenantSecrets"
  > {
  readonly settings: SourceSettings;
  /** The texts that no log may show; those that verify come first, the current one at the head. */
  readonly secrets: readonly string[];
  /** @throws TypeError for a secret or a key that cannot be used */
  readonly scheme: (environment: SourceEnvironment) => Scheme;
  readonly contract: ContractData;
  /** Whether a scheme can be made with a secret that the platform sends; every one when left out. */
  readonly isUsable?: (secret: string) => boolean;
  /** A callback in the platform's shape; without one it has what the contract reads, and nothing else. */
  readonly sample?: OwnSample | undefined;
  /** What is signed holds the request's path, so that a callback of one tenant is no callback of another. */
  readonly signsPath?: boolean;
}

const NOTHING: readonly string[] = [];
const NOTHING_LEARNT: SecretLookup = { learntSecrets: () => NOTHING, lookForSecrets: () => undefined };
const NOWHERE: SourceEnvironment = { name: "", clock: { now: () => new Date() }, origin: () => "" };

/**
 * A source of any scheme.
 * @throws TypeError that names the option that is wrong, here and not at the start: the stack names the configuration's line
 */
export function defineSource(parts: SourceParts): SourceDefinition {
  const { preset, facts, secrets, scheme, hmac, sign, reconcile, credential, isUsable = () => true } = parts;
  const { hasTenantSecrets } = parts;
  const settings = settingsOf(preset, parts.settings);
  assertTenantsApart(parts, settings);
  const { unhandled } = settings;
  const contract = unhandled === undefined ? parts.contract : { ...parts.contract, unhandled };
  scheme(NOWHERE);
  createEventContract(contract, NOWHERE);
  const isWanted = compileFilters(settings);
  return {
    preset,
    facts,
    settings,
    secrets,
    createScheme: scheme,
    ...(learns(contract) && { learns: true }),
    ...(hasTenantSecrets && { hasTenantSecrets }),
    createContract({ learning, ...environment }) {
      const learn = (secret: string) => learning !== undefined && isUsable(secret) && learning.learn(secret);
      const created = createEventContract(contract, { visit: visitAddress, ...environment, learn });
      return isWanted === undefined ? created : { ...created, isWanted };
    },
    ...(hmac !== undefined && { hmac }),
    ...(sign !== undefined && { sign }),
    ...(reconcile !== undefined && { reconcile }),
    sample: createSample(contract, parts.sample),
    ...(credential !== undefined && { credential }),
  };
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
type ReconcilableOptions = LearningOptions & { readonly reconcile?: ReconcileOptions };

/**
 * A preset whose platform signs with a shared secret.
 * @returns a function of the secret and the source's settings @throws TypeError that names the option that is wrong
 */
export function hmacPreset<Options extends ReconcilableOptions = PresetOptions>(
  data: HmacPreset<Options>,
): Preset<Options> {
  const { preset, facts } = data;
  const schemeOf = (options: Options) =>
    typeof data.scheme === "function" ? data.scheme(options) : data.scheme;
  const contractOf = (options: Options, secrets: readonly string[]) =>
    typeof data.contract === "function" ? data.contract(options, secrets) : data.contract;
  function create(options: Options): SourceDefinition {
    const { secret } = options;
    const secrets = typeof secret === "function" ? [] : givenSecrets(preset, secret);
    const scheme = schemeOf(options);
    const contract = contractOf(options, secrets);
    const ofTenants = tenantSecrets(data, options, contract);
    const isLearning = learns(contract);
    const signsPath = coversPath(scheme.signed);
    if (!isLearning && ofTenants === undefined) secretsOf(preset, secrets);
    const [current] = secrets;
    const reconcile = options.reconcile && data.reconcile?.(options.reconcile);
    const apiKeys = [options.reconcile?.apiKey].filter((key) => key !== undefined);
    const make = ({ clock, origin }: SourceEnvironment) => {
      return (all: readonly string[]) => createHmacScheme(scheme, { secrets: all, clock, origin });
    };
    return defineSource({
      preset,
      facts,
      settings: options,
      secrets: [...secrets, ...(data.otherSecrets?.(options) ?? []), ...apiKeys],
      scheme(environment) {
        const { name, warn, learning = NOTHING_LEARNT } = environment;
        const own = { name, warn, make: make(environment) };
        if (ofTenants !== undefined) return createTenantScheme({ ...own, secretsOf: ofTenants, signsPath });
        return isLearning ? learningScheme(learning, secrets, own.make) : own.make(secrets);
      },
      contract,
      ...(ofTenants !== undefined && { hasTenantSecrets: true }),
      signsPath,
      hmac: scheme,
      sample: data.sample,
      credential: `the header ${[scheme.signature.header].flat().join(" or ")}`,
      ...(isLearning && { isUsable: (secret) => isUsable(secret, make(NOWHERE)) }),
      ...(current !== undefined && {
        sign: (request) => signHmacRequest(scheme, { ...request, secret: current }),
      }),
      ...(reconcile !== undefined && { reconcile }),
    });
  }
  create.describe = describe(() => {
    const options = { secret: EXAMPLE_SECRET, ...data.example } as Options;
    const contract = contractOf(options, [EXAMPLE_SECRET]);
    return { preset, facts, signs: describeHmac(schemeOf(options)), contract };
  });
  return create;
}

const hasParameters = (path: string | undefined) => path?.includes("/:") === true;

/**
 * The function that gives each tenant's secrets, where there is one.
 * @throws TypeError where no path tells the tenants apart, or the platform's handshakes need one secret for all
 */
function tenantSecrets(
  { preset, facts: { title } }: Pick<HmacPreset<LearningOptions>, "preset" | "facts">,
  { secret, path }: LearningOptions,
  contract: ContractData,
): TenantSecrets | undefined {
  const isFunction = typeof secret === "function";
  const got = isFunction ? `${preset}: \`secret\`: got a function` : `${preset}: \`path\`: got ${path}`;
  if (learns(contract) && (isFunction || hasParameters(path)))
    throw new TypeError(
      `${got}; ${title} sends its secret itself, unsigned, so that a stranger could set it for every tenant: ` +
        "expected a source for each tenant, with a path without parameters",
    );
  if (!isFunction) return undefined;
  if (!hasParameters(path))
    throw new TypeError(`${got}, expected \`path\` beside it with a parameter, such as /hooks/:tenant`);
  if (provesSecret(contract))
    throw new TypeError(
      `${got}; ${title} asks in a handshake for a proof of one fixed secret: ` +
        "expected the secret as a text, in a source for each tenant",
    );
  return secret;
}

/** Whether a handshake is answered with a MAC of the source's own secret, which is not there with a function. */
function provesSecret({ handshakes = [] }: ContractData): boolean {
  return handshakes.some(
    ({ reply }) =>
      reply.kind === "json" &&
      Object.values(reply.fields).some(
        (field) => typeof field === "object" && "hmac" in field && field.secret === "",
      ),
  );
}

/**
 * Where all tenants have one secret, and the path is not signed, a recorded callback is authentic under the name of each
 * tenant, also of a made-up one, and runs once for each.
 * @throws TypeError for parameters of the path that nothing proves
 */
function assertTenantsApart(
  { preset, hmac, hasTenantSecrets, signsPath }: SourceParts,
  settings: SourceSettings,
) {
  if (!hasParameters(settings.path) || hasTenantSecrets === true || signsPath === true) return;
  const own =
    hmac === undefined ? "" : "`secret` as a function that gives each tenant a secret of its own, or ";
  throw new TypeError(
    `${preset}: \`path\`: got ${settings.path} with one secret for all tenants; the path is not signed, so that a ` +
      `recorded callback could be sent to every tenant: expected ${own}a path without parameters`,
  );
}

const EXAMPLE_SECRET = "of no source";

/** @throws TypeError where none is set */
export function secretsOf(preset: string, given: SecretOption | TenantSecrets, option = "secret"): string[] {
  const secrets = givenSecrets(preset, given, option);
  if (secrets.length === 0) throw new TypeError(expectedSecret(preset, option, "none"));
  return secrets;
}

function givenSecrets(preset: string, given: SecretOption | TenantSecrets, option = "secret"): string[] {
  const secrets = [given].flat().filter((secret) => secret !== undefined);
  const texts = secrets.filter((secret) => typeof secret === "string");
  const wrong = secrets.find((secret) => typeof secret !== "string");
  if (wrong !== undefined) throw new TypeError(expectedSecret(preset, option, typeof wrong));
  return texts;
}

function expectedSecret(preset: string, option: string, got: string): string {
  return `${preset}: \`${option}\`: got ${got}, expected what the platform shows; is its variable set?`;
}
