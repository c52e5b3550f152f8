import type { Config } from "../config/index.ts";

/**
 * Whether a database was used with another address, and somebody should hear of it. In development the address is the
 * listener's own unless it is set, and follows the port: no platform has it registered.
 */
export function baseUrlChanged(config: Config, previous: string | undefined): previous is string {
  if (previous === undefined || previous === config.baseUrl) return false;
  return config.isBaseUrlGiven || config.environment !== "development";
}
