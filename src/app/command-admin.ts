import { createEmbeddedAdmin } from "../admin/index.ts";
import { configuredSources, type Loaded, maskOf } from "../configured/index.ts";
import { createLogger, SecretValues } from "../observability/index.ts";
import { adminParts } from "./admin-parts.ts";
import { assemble } from "./assemble.ts";
import { UndoSteps } from "./undo-steps.ts";

const ORIGIN = "http://localhost";
const CALLER = { actor: "command line", role: "operator" } as const;

/**
 * Lends the admin API of a receiver in an application, on its database. It listens nowhere and begins no round. A receiver
 * that runs beside it keeps its leases.
 * @throws StartError or MigrationError if the database cannot be opened
 */
export async function withCommandAdmin<T>(
  { config, handlers, migrations }: Loaded,
  use: (admin: { readonly origin: string; readonly fetch: typeof fetch }) => Promise<T>,
): Promise<T> {
  const secretValues = new SecretValues(config.secretValues);
  const mask = maskOf(config, { configured: await configuredSources(config), secretValues });
  // Standard output is the command's.
  const logger = createLogger({ level: "error", mask, destination: process.stderr });
  const undo = new UndoSteps(logger);
  try {
    const assembled = await assemble(config, { handlers, migrations, logger, secretValues }, undo);
    const parts = await adminParts(assembled);
    const admin = await createEmbeddedAdmin({ ...parts, sandbox: null, isServing: () => true });
    undo.add("admin API", admin.close);
    return await use({
      origin: ORIGIN,
      fetch: async (...given) => {
        const request = new Request(...given);
        return admin.answer({
          ...{ method: request.method, body: request.body, signal: request.signal, caller: CALLER },
          target: request.url.slice(ORIGIN.length),
          headers: { host: "localhost", ...Object.fromEntries(request.headers) },
          ...{ basePath: "", clientAddress: "", isStillAllowed: async () => true },
        });
      },
    });
  } finally {
    await undo.run();
  }
}
