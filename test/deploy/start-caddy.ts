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

/** Starts Caddy with deploy/caddy/Caddyfile itself. */
export async function startCaddy(program: string, files: ProxyFiles): Promise<ProxyProcess> {
  const args = ["run", "--config", DELIVERED, "--adapter", "caddyfile"];
  return startProxy(program, args, files.httpsPort, caddyEnvironment(files));
}
