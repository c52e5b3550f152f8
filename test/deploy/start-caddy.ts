import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ProxyProcess, startProxy } from "./proxy-process.ts";
import type { ProxyFiles } from "./start-nginx.ts";

const DELIVERED = "deploy/caddy/Caddyfile";

/** What a site sets for deploy/caddy/Caddyfile. */
export function caddyEnvironment({ folder, httpPort, httpsPort, upstream }: ProxyFiles): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    // Caddy keeps what it knows there, and never in a home.
    HOME: folder,
    XDG_DATA_HOME: folder,
    XDG_CONFIG_HOME: folder,
    ONCEHOOK_HOST: "localhost",
    ONCEHOOK_HTTP_PORT: String(httpPort),
    ONCEHOOK_HTTPS_PORT: String(httpsPort),
    ONCEHOOK_TLS: `${folder}/cert.pem ${folder}/key.pem`,
    ONCEHOOK_ALLOWED: "2001:db8:1::/48 127.0.0.0/29",
    ONCEHOOK_UPSTREAM: upstream,
  };
}

/**
 * Starts Caddy with deploy/caddy/Caddyfile itself.
 * @param isHeard whether what `oncehook listen` calls is no comment
 */
export async function startCaddy(program: string, files: ProxyFiles, isHeard = false): Promise<ProxyProcess> {
  const config = isHeard ? await uncommented(files.folder) : DELIVERED;
  const args = ["run", "--config", config, "--adapter", "caddyfile"];
  return startProxy(program, args, files.httpsPort, caddyEnvironment(files));
}

async function uncommented(folder: string): Promise<string> {
  const text = await readFile(DELIVERED, "utf8");
  const [lines = ""] = /^\t# @capture [\s\S]*?^\t# \}$/m.exec(text) ?? [];
  if (lines === "") throw new Error(`${DELIVERED}: expected @capture as a comment`);
  const file = join(folder, "Caddyfile");
  await writeFile(file, text.replace(lines, lines.replaceAll(/^\t# /gm, "\t")));
  return file;
}
