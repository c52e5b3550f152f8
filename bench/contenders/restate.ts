import { arch, platform } from "node:os";
import { fileURLToPath } from "node:url";
import { freePort } from "../../test/support/free-port.ts";
import { startServer } from "../machine/server-process.ts";
import { type Contender, serving } from "./contender.ts";
import { packageVersion, startNodeServer } from "./node-server.ts";

/** The server itself: the package's command is a Node process around it, whose memory is not Restate's. */
const BINARY = fileURLToPath(
  new URL(`../node_modules/@restatedev/restate-server-${platform()}-${arch()}/bin/restate-server`, import.meta.url),
);

/** A Restate server with its defaults, and one idempotent call an event to a small service that verifies the HMAC. */
export const restate: Contender = {
  name: "restate",
  title: "Restate server",
  store: "own",
  isIdempotent: true,
  version: async () => ["@restatedev/restate-server", "@restatedev/restate-sdk"].map(packageVersion).join(", "),
  async start({ folder, nodeOptions }) {
    const service = await startNodeServer("restate-service.mjs", { folder, nodeOptions }, {});
    const [ingress, admin, fabric] = [await freePort(), await freePort(), await freePort()];
    const server = await startServer({
      command: BINARY,
      args: ["--no-logo", "--listen-mode", "tcp", "--base-dir", folder, "--node-name", "bench"],
      env: {
        RESTATE_BIND_IP: "127.0.0.1",
        RESTATE_BIND_PORT: String(fabric),
        RESTATE_INGRESS__BIND_PORT: String(ingress),
        RESTATE_ADMIN__BIND_PORT: String(admin),
        RESTATE_ADVERTISED_HOST: "127.0.0.1",
        RESTATE_DISABLE_TELEMETRY: "true",
      },
      folder,
      port: ingress,
      isReady: () => isRegistered(admin, service.port),
    }).catch(async (error: unknown) => {
      await service.server.stop();
      throw error;
    });
    return serving([server, service.server], [`http://127.0.0.1:${ingress}/Callback/receive`]);
  },
};

/** It is ready when it knows the service. Until it is up it refuses. */
async function isRegistered(adminPort: number, servicePort: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${adminPort}/deployments`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ uri: `http://127.0.0.1:${servicePort}` }),
  }).catch(() => undefined);
  return answer?.ok === true;
}
