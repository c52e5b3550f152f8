import type pg from "pg";

/** Settings of PostgreSQL by their names, for a whole session. */
export type SessionSettings = Readonly<Record<string, string>>;

/**
 * The driver's configuration for an address. Settings go with the start of the session, so that RESET ALL and DISCARD ALL
 * come back to them; those in the address, or in PGOPTIONS, stay, and come second.
 */
export function connectionTo(url: string, settings: SessionSettings): pg.ClientConfig {
  const address = URL.parse(url);
  const given = address?.searchParams.get("options") ?? process.env.PGOPTIONS ?? "";
  const own = Object.entries(settings).map(([name, value]) => `-c ${name}=${escaped(value)}`);
  const options = [given, ...own].filter((text) => text !== "").join(" ");
  // The driver would prefer the address's options to these, and look for a file that is called system.
  if (address?.searchParams.has("options")) address.searchParams.delete("options");
  if (address?.searchParams.get("sslrootcert") === "system") address.searchParams.delete("sslrootcert");
  return { connectionString: address?.href ?? url, ...(options === "" ? {} : { options }) };
}

/** Spaces end an option, and a backslash takes the next character as it is (manual, 54.7, StartupMessage). */
function escaped(value: string): string {
  return value.replaceAll(/[\\\s]/g, (found) => `\\${found}`);
}
