import { type Command, Option } from "commander";
import type { FailureFilter } from "../admin-client/index.ts";

/** Options that say which failures are meant. */
export interface FilterOptions {
  readonly state?: "waiting" | "exhausted";
  readonly source?: string;
  readonly type?: string;
  readonly code?: string;
}

export function withFilter(command: Command): Command {
  return command
    .addOption(new Option("--state <state>", "failures in this state").choices(["waiting", "exhausted"]))
    .option("--type <event_type>", "failures of events of this type")
    .option("--code <code>", "failures with this code");
}

export function filterOf({ state, source, type, code }: FilterOptions): FailureFilter {
  return {
    ...(state === undefined ? {} : { state }),
    ...(source === undefined ? {} : { source }),
    ...(type === undefined ? {} : { event_type: type }),
    ...(code === undefined ? {} : { code }),
  };
}
