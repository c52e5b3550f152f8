import type { ContractData } from "../contract/event-contract.ts";
import type { ReconcileOptions, Reconciliation } from "../reconcile/reconciliation.ts";
import { compileHmacData, createHmacScheme } from "../schemes/hmac.ts";
import type { HmacData } from "../schemes/hmac-data.ts";
import { keysOf } from "../schemes/secret-keys.ts";
import { type HmacRequest, signHmacRequest } from "../schemes/sign-hmac.ts";
import { coversAddress, coversPath, signedPlaces } from "../schemes/signed-content.ts";
import type { TenantSecrets } from "../schemes/tenant-scheme.ts";
import type { SourceEnvironment, SourceSettings } from "../source-definition.ts";
import { learnsSecret, provesSecret } from "./define-source.ts";
import { contractIn, type OwnContract } from "./own-source.ts";
import { type OwnOptions, type Platform, type Preset, presetOf } from "./preset.ts";
import {
  assertNoFault,
  learntParts,
  type PresetOptions,
  refuseFunction,
  type SecretOption,
  secretParts,
} from "./secrets.ts";

/** Options of a platform whose API lists the events. */
export interface ReconcilingOptions extends PresetOptions {
  /** Finds the events that never arrived: docs/reconcile.md. */
  readonly reconcile?: ReconcileOptions;
}

/** An HMAC preset: data, of which `made` replaces the parts that depend on options. */
export interface HmacPreset<Options extends HmacOptions> extends Platform, Omit<HmacData, "signed"> {
  /** Default: the body. */
  readonly signed?: string;
  /** The options that only this preset has. */
  readonly options?: OwnOptions<Options, "secret" | "reconcile">;
  /** @throws OptionError that names the option that is wrong */
  readonly made?: (options: Options) => Partial<HmacData & OwnContract> & {
    /** Texts beside the secret that no log may show, such as a verify token. */
    readonly otherSecrets?: readonly string[];
  };
  /** The fault of a secret that the scheme could use; undefined where there is none. */
  readonly secretFault?: Parameters<typeof assertNoFault>[1];
  /** @throws OptionError that names the option that is wrong */
  readonly reconcile?: (options: NonNullable<Options["reconcile"]>) => Reconciliation;
}

/** A preset's options that may have `reconcile`; most presets have none, since their platforms list no events. */
interface HmacOptions extends SourceSettings {
  readonly secret?: SecretOption | TenantSecrets;
  readonly reconcile?: ReconcileOptions;
}

/**
 * A preset whose platform signs with a shared secret.
 * @returns a function of the secret and the source's settings @throws OptionError that names the option that is wrong
 */
export function hmacPreset<Options extends HmacOptions = PresetOptions>(
  preset: string,
  data: HmacPreset<Options>,
): Preset<Options> {
  const scheme = { signed: "{body}", ...data };
  return presetOf<Options>(preset, {
    ...data,
    signs: scheme,
    signedPlaces: signedPlaces(scheme.signed, isJson(data)),
    options: { secret: "required", ...(data.reconcile && { reconcile: "optional" }), ...data.options },
    make(options, title) {
      const { otherSecrets = [], ...made } = data.made?.(options) ?? {};
      const all = { ...scheme, ...made };
      const { apiKey } = options.reconcile ?? {};
      const reconcile = options.reconcile && data.reconcile?.(options.reconcile);
      const parts = hmacParts(all, contractIn(all), { options, title, secretFault: data.secretFault });
      return {
        ...parts,
        secrets: [...parts.secrets, ...otherSecrets, ...(apiKey === undefined ? [] : [apiKey])],
        ...(data.reconcile !== undefined && { listsEvents: true }),
        ...(reconcile !== undefined && { reconcile }),
      };
    },
  });
}

interface HmacUse {
  readonly options: HmacOptions;
  /** The platform's. */
  readonly title: string;
  readonly secretFault?: HmacPreset<HmacOptions>["secretFault"] | undefined;
}

/** A source's parts where it signs with an HMAC. The secrets are learnt if it sends them, else fixed or of tenants. */
export function hmacParts(scheme: HmacData, contract: ContractData, use: HmacUse) {
  const { options, title, secretFault = () => undefined } = use;
  const make = (secrets: readonly string[], { clock, origin }: SourceEnvironment) =>
    createHmacScheme(scheme, { secrets, clock, origin });
  const isProof = provesSecret(contract);
  if (isProof)
    refuseFunction(options.secret, "secret", `, since ${title} asks in a handshake for a proof of one fixed secret`);
  const kind = { settings: options, signsPath: coversPath(scheme.signed), title };
  const parts = learnsSecret(contract)
    ? learntParts(options.secret, kind, { make, compile: (all) => keysOf(all, scheme.key) })
    : secretParts(options.secret, kind, make);
  // Secrets of tenants come later, and the data is looked at now.
  if (parts.hasTenantSecrets) compileHmacData(scheme, () => "");
  assertNoFault(parts.secrets, secretFault);
  const [current] = parts.secrets;
  return {
    ...parts,
    ...(isProof && { tenantOption: undefined }),
    contract: { ...contract, signs: signedPlaces(scheme.signed, isJson(contract)) },
    hmac: scheme,
    signsAddress: coversAddress(scheme.signed),
    credential: { headers: [scheme.signature.header].flat() },
    ...(current !== undefined && {
      sign: (request: Omit<HmacRequest, "secret">) => signHmacRequest(scheme, { ...request, secret: current }),
    }),
  };
}

export function isJson({ body = "json" }: Pick<ContractData, "body">): boolean {
  return body === "json";
}
