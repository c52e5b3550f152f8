import { Area } from "../database.ts";
import { readSetting, writeSetting } from "./settings.ts";

/** The last endpoint check of each source, in `oncehook_settings`. Their number is that of the sources. */
export class EndpointChecks extends Area {
  /** @param result JSON */
  note(source: string, result: string): Promise<void> {
    return writeSetting(this.database.write, checkName(source), result);
  }

  /** The JSON of the last result; undefined for none. */
  last(source: string): Promise<string | undefined> {
    return readSetting(this.database.read, checkName(source));
  }
}

const checkName = (source: string) => `endpoint_check ${source}`;
