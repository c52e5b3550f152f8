import type { ContractData } from "../contract/event-contract.ts";
import { naming, wrongOption } from "../option-error.ts";
import type { SourceDefinition, SourceSettings } from "../source-definition.ts";
import { defineSource, type SourceParts } from "./define-source.ts";
import { assertKnown } from "./options.ts";
import { SETTING_NAMES } from "./source-settings.ts";

/** The meaning of a sender's callbacks, for sources of your own. */
export type OwnContract = Omit<ContractData, "unhandled" | "invalid" | "identity" | "signs">;

/** Every option of a contract; the compiler keeps it complete. */
const CONTRACT = {
  id: true,
  type: true,
  eventTime: true,
  hasSignedTime: true,
  data: true,
  headers: true,
  isIdSigned: true,
  batch: true,
  handshakes: true,
  responses: true,
  body: true,
  decode: true,
  emptyBody: true,
  methods: true,
  gzip: true,
  decrypt: true,
  encrypt: true,
  bytesScope: true,
  attemptFields: true,
  renewsTimestamp: true,
} satisfies Record<keyof OwnContract, true>;

/** A kind of source that no platform's preset describes. */
interface OwnKind {
  readonly preset: string;
  readonly title: string;
  /** The names of the options that say how it signs. */
  readonly schemeOptions: readonly string[];
}

/** @throws OptionError that names the option that is wrong */
export function ownSource<Options extends OwnContract & SourceSettings>(
  { preset, title, schemeOptions }: OwnKind,
  options: Options,
  make: (
    contract: ContractData,
  ) => Omit<SourceParts, "preset" | "facts" | "settings" | "contract"> & Partial<Pick<SourceParts, "contract">>,
): SourceDefinition {
  return naming({ preset }, () => {
    assertKnown(options, [...schemeOptions, ...Object.keys(CONTRACT), ...SETTING_NAMES]);
    const { id, type } = options as { id?: unknown; type?: unknown };
    assertPlace("id", id, "body.id, header.X-Id or sha256");
    assertPlace("type", type, "body.type, header.X-Event or =order.placed");
    const contract = contractIn(options);
    const facts = { title, docs: "docs/own-sources.md", proof: "own" } as const;
    return defineSource({ preset, facts, settings: options, contract, ...make(contract) });
  });
}

function assertPlace(option: string, value: unknown, examples: string): void {
  const places = [value].flat();
  const isPlace = (one: unknown) => (typeof one === "string" && one !== "") || typeof one === "function";
  if (places.length > 0 && places.every(isPlace)) return;
  throw wrongOption(option, value, `where it stands, such as ${examples}`);
}

/** Only the contract, of data that says more. */
export function contractIn(data: OwnContract): OwnContract {
  const members = Object.entries(data).filter(([name]) => Object.hasOwn(CONTRACT, name));
  return Object.fromEntries(members) as unknown as OwnContract;
}
