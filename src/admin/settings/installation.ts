import type { PollerRounds } from "../../system/index.ts";
import type { BackgroundName, ChecksView, ConfigurationView, StorageView } from "./settings-schemas.ts";

/** How often a piece of background work comes by. */
export interface BackgroundRounds extends PollerRounds {
  readonly name: BackgroundName;
}

/** One variable or option; see `CONFIGURATION`. */
interface ConfiguredValue {
  readonly name: string;
  readonly group: string;
  readonly value: string | null;
  readonly isSecret: boolean;
  readonly origin: ConfigurationView["values"][number]["origin"];
  readonly defaultText: string | null;
}

/** The process itself: its configuration, its checks and its background work. */
export interface Installation {
  readonly database: string;
  readonly values: readonly ConfiguredValue[];
  readonly retention: StorageView["retention"];
  readonly rounds: () => readonly BackgroundRounds[];
  /** Runs the checks of `oncehook doctor`, once for all who ask meanwhile; undefined where they took too long. */
  readonly check: () => Promise<ChecksView["findings"] | undefined>;
}
