import { cp, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type ProxyProcess, startProxy } from "./proxy-process.ts";

export interface ProxyFiles {
  /** A folder of the test's own, with `cert.pem` and `key.pem`. */
  readonly folder: string;
  readonly httpPort: number;
  readonly httpsPort: number;
  /** The receiver's, as host:port. */
  readonly upstream: string;
}

/**
 * Starts nginx with deploy/nginx/oncehook.conf itself. Only what a site replaces in the included files is replaced:
 * addresses, ports, the networks that may call, the paths of the certificate and of the log.
 */
export async function startNginx(program: string, files: ProxyFiles): Promise<ProxyProcess> {
  const { folder, httpPort, httpsPort, upstream } = files;
  const included = join(folder, "oncehook");
  await cp("deploy/nginx/oncehook", included, { recursive: true });
  const listening = (port: number) => [
    ["server_name pay.example.com;", "server_name localhost;"],
    [/listen \d+/, `listen 127.0.0.1:${port}`],
    [/listen \[::\]:\d+/, `listen 127.0.0.2:${port}`],
  ];
  await replace(join(included, "listen-plain.conf"), listening(httpPort));
  await replace(join(included, "listen.conf"), [
    ...listening(httpsPort),
    [/ssl_certificate \S+;/, `ssl_certificate ${folder}/cert.pem;`],
    [/ssl_certificate_key \S+;/, `ssl_certificate_key ${folder}/key.pem;`],
    [/access_log \S+/, `access_log ${folder}/access.log`],
  ]);
  // A busy machine would not come near the rate as it is delivered.
  await replace(join(included, "limits.conf"), [["rate=100r/s", "rate=10r/s"]]);
  await replace(join(included, "upstream.conf"), [["127.0.0.1:8080", upstream]]);
  await replace(join(included, "allowed.conf"), [
    ["default 1;", "default 0;"],
    ["# 203.0.113.0/24 1;", "127.0.0.0/29 1;"],
  ]);
  await writeFile(join(folder, "nginx.conf"), main(folder));
  return startProxy(
    program,
    ["-p", folder, "-e", join(folder, "error.log"), "-c", join(folder, "nginx.conf")],
    httpsPort,
  );
}

/** Fails where there is nothing to replace any more: the test would try something else than it says. */
async function replace(file: string, changes: readonly (readonly (string | RegExp)[])[]): Promise<void> {
  let text = await readFile(file, "utf8");
  for (const [from = "", to = ""] of changes) {
    const changed = text.replace(from, String(to));
    if (changed === text) throw new Error(`${file}: expected ${from}, which the test replaces`);
    text = changed;
  }
  await writeFile(file, text);
}

/** What a system's own nginx.conf holds, with every path in the test's folder. */
function main(folder: string): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join("\n");
  return `daemon off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log notice;
${process.getuid?.() === 0 ? "user root root;" : ""}
events {}
http {
access_log off;
${temporary}
include ${resolve("deploy/nginx/oncehook.conf")};
}
`;
}
