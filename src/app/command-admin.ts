import { type Loaded, openMaskedLog } from "../configured/index.ts";
import { openEmbeddedAdmin } from "./admin-parts.ts";
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
  // Standard output is the command's.
  const { logger, secretValues } = await openMaskedLog(config, { level: "error", destination: process.stderr });
  const undo = new UndoSteps(logger);
  try {
    const assembled = await assemble(config, { handlers, migrations, logger, secretValues }, undo);
    const admin = await openEmbeddedAdmin(assembled);
    undo.add("admin API", admin.close);
    return await use({
      origin: ORIGIN,
      fetch: async (...given) => {
        const admitted = { basePath: "", clientAddress: "", caller: CALLER, isStillAllowed: async () => true };
        return admin.answer(new Request(...given), admitted);
      },
    });
  } finally {
    await undo.run();
  }
}
