import type { ContractData } from "../contract/event-contract.ts";
import type { SourceSettings } from "../source-definition.ts";
import { assertKnown, SETTING_NAMES } from "./source-settings.ts";

/** What a sender's callbacks mean, for sources of your own. */
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

/** Plain JavaScript has no compiler to say it. @throws TypeError for an option that is unknown, or an event without a place */
export function assertOptions(preset: string, options: object, own: readonly string[]): void {
  assertKnown(preset, options, [...own, ...Object.keys(CONTRACT), ...SETTING_NAMES]);
  const { id, type } = options as { id?: unknown; type?: unknown };
  assertPlace(preset, "id", id, "body.id, header.X-Id or sha256");
  assertPlace(preset, "type", type, "body.type, header.X-Event or =order.placed");
}

function assertPlace(preset: string, option: string, given: unknown, examples: string): void {
  const places = [given].flat();
  const isPlace = (one: unknown) => (typeof one === "string" && one !== "") || typeof one === "function";
  if (places.length > 0 && places.every(isPlace)) return;
  throw wrongOption(preset, option, given, `where it stands, such as ${examples}`);
}

/** @param given shown as it is: never a secret */
export function wrongOption(preset: string, option: string, given: unknown, expected: string): TypeError {
  const got = given === undefined ? "none" : JSON.stringify(given);
  return new TypeError(`${preset}: \`${option}\`: got ${got}, expected ${expected}`);
}

/** @throws TypeError where it is missing or empty */
export function assertText(preset: string, option: string, given: unknown, example: string): void {
  if (typeof given === "string" && given !== "") return;
  throw wrongOption(preset, option, given, `a text such as ${example}`);
}

/** @throws TypeError that lists what there is */
export function assertOneOf(preset: string, option: string, given: unknown, known: readonly string[]): void {
  if (known.some((one) => one === given)) return;
  throw wrongOption(preset, option, given, known.join(", "));
}

/** The contract alone, without a source's settings and without what its scheme takes. */
export function contractOf(options: OwnContract & SourceSettings, own: readonly string[]): ContractData {
  const { path: _path, unhandled: _unhandled, ...rest } = options;
  const contract = Object.entries(rest).filter(([name]) => !own.includes(name));
  return Object.fromEntries(contract) as unknown as ContractData;
}
