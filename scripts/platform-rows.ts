import documentedTypes from "../src/doctor/documented-types.json" with { type: "json" };
import * as exported from "../src/sources/platforms/index.ts";
import { describePreset, type PresetDescription } from "./describe-preset.ts";
import { row } from "./row.ts";

interface PlatformRow {
  readonly description: PresetDescription;
  /** In the order of `COLUMNS`. */
  readonly cells: readonly string[];
}

const COLUMNS = [
  "preset",
  "platform",
  "signature over",
  "id",
  "type",
  "questions to the address",
  "deadline",
  "retries",
  "disables an address",
  "largest body",
  "proof",
];

const PROOFS = {
  signs: "signed by its SDK",
  verifies: "verified by its SDK or a vector",
  community: "verified by a community library or a vector of one",
  documented: "documented, unproven",
  own: "your own",
} as const satisfies Record<NonNullable<PresetDescription["facts"]["proof"]> | "documented", string>;

const isUnproven = ({ description }: PlatformRow) => description.facts.proof === undefined;

/** The tables of docs/platforms.md: what an SDK or a vector proves, and what nothing but documentation does. */
export function platformTables(): string {
  const rows = platformRows();
  const section = (title: string, ofSection: readonly PlatformRow[]) =>
    [
      `## ${title}`,
      "",
      row(...COLUMNS),
      row(...COLUMNS.map(() => "---")),
      ...ofSection.map(({ cells }) => row(...cells)),
    ].join("\n");
  const proven = section(
    "Proven",
    rows.filter((one) => !isUnproven(one)),
  );
  const unproven = section("Documented, unproven", rows.filter(isUnproven));
  return `${[proven, unproven, keyTable(rows), typeTable()].join("\n\n")}\n`;
}

/** Which key the events of a preset have whose id is not signed, or not there for all of them. */
function keyTable(rows: readonly PlatformRow[]): string {
  const listed = rows.filter(
    ({ description: { identity, facts } }) => identity !== "signed-id" || facts.identity !== undefined,
  );
  const cells = listed.map(({ description: { preset, identity, facts } }) => {
    const { why = "", source = facts.docs } = facts.identity ?? {};
    return row(`\`${preset}\``, `\`${identity}\``, why, `[${facts.title}](${source})`);
  });
  const about =
    "Every other preset has a signed id, which is the key. `identity` changes a default of this table, but not `signed-id`.";
  const head = [row("preset", "identity", "why", "source"), row("---", "---", "---", "---")];
  return ["## Keys of events", "", about, "", ...head, ...cells].join("\n");
}

const WARNINGS = { all: "of any other type", near: "of a slip of a listed type", none: "never" };

/** Whose types are listed, so that a type which none of them is can be pointed out. */
function typeTable(): string {
  const about =
    "The start and `doctor` point out a type of a handler or a filter that is not in its preset's list. A list that was not\n" +
    "compared with its whole source points out a slip of a listed type only, or nothing.";
  const head = [row("preset", "types", "warns", "source"), row("---", "---", "---", "---")];
  const cells = Object.entries(documentedTypes).map(([preset, { types, checked, source }]) =>
    row(
      `\`${preset}\``,
      String(types.split(" ").length),
      WARNINGS[checked as keyof typeof WARNINGS],
      source.replaceAll("|", "\\|"),
    ),
  );
  return ["## Types that are known", "", about, "", ...head, ...cells.toSorted()].join("\n");
}

/** The rows of docs/platforms.md, of every preset that `oncehook/sources` exports, by name. */
export function platformRows(): PlatformRow[] {
  const rows = Object.entries(exported).flatMap(([name, preset]): PlatformRow[] => {
    if (typeof preset !== "function" || !("describe" in preset)) return [];
    const description = describePreset(preset.describe());
    return [{ description, cells: cellsOf(name, description) }];
  });
  return rows.toSorted((one, other) => (one.description.preset < other.description.preset ? -1 : 1));
}

function cellsOf(name: string, description: PresetDescription): string[] {
  const { preset, facts, signs, id, identity, type, handshakes } = description;
  const { title, docs, deadlineSeconds, retryHours, disables, maxBodyBytes, unsigned } = facts;
  const isInEnvironment = Object.hasOwn(exported.PRESETS, preset);
  return [
    isInEnvironment ? `\`${preset}\`` : `\`${preset}\`, \`${name}({ … })\``,
    `[${title}](${docs})`,
    unsigned === undefined ? signs : `${signs}; unsigned: ${unsigned}`,
    identity === "signed-id" || identity === "bytes" ? id : `${id}; not signed`,
    type,
    handshakes.join("; "),
    deadlineSeconds === undefined ? "" : `${deadlineSeconds} s`,
    retryHours === undefined ? "" : retryTime(retryHours),
    disables ?? "",
    maxBodyBytes === undefined ? "" : `${maxBodyBytes / 1_000_000} MB`,
    PROOFS[facts.proof ?? "documented"],
  ];
}

function retryTime(hours: number): string {
  if (hours === 0) return "none";
  if (hours < 1) return `${Math.round(hours * 60)} min`;
  return hours > 72 ? `${Math.round(hours / 24)} days` : `${hours} h`;
}
