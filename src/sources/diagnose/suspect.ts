import type { SignedRequest } from "../schemes/scheme.ts";

/** A request whose signature did not verify. */
export interface Suspect extends SignedRequest {
  readonly method: string;
  /** The whole address that the platform called, as it has it registered. */
  readonly url: string;
}

/** A secret that is used for diagnoses alone, and never accepted. */
export interface NamedSecret {
  /** Such as `test`; one that begins with `previous` is a former secret of this environment. */
  readonly name: string;
  readonly secret: string;
}

/** The secrets that a signature may have been made with. */
export interface KnownSecrets {
  /** Those that are accepted, the current one first. */
  readonly accepted: readonly string[];
  readonly named: readonly NamedSecret[];
}
