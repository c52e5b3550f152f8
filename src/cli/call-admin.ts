import { type AdminClient, AdminError, createAdminClient } from "../admin-client/index.ts";
import type { Config } from "../config/index.ts";
import { loadConfiguration } from "./load-configuration.ts";
import { UsageError, UserError } from "./user-error.ts";

export interface AdminOptions {
  readonly adminPort?: number;
  readonly env?: string;
}

/** Longer than the receiver waits for its database, so that it can say what it waited for. */
const TIME_LIMIT_MS = 15_000;

/**
 * Asks the admin API of the running receiver and returns its answer.
 * @param limitOf how long the answer may take: some of them run a handler first
 * @throws UserError when there is none, or any other than a success
 */
export async function callAdmin<Answer>(
  options: AdminOptions,
  ask: (client: AdminClient) => Promise<Answer>,
  limitOf: (config: Config) => number = () => TIME_LIMIT_MS,
): Promise<Answer> {
  const { config } = await loadConfiguration(options, { listens: false });
  const origin = originOf(config, options.adminPort);
  const timeLimitMs = limitOf(config);
  try {
    return await ask(createAdminClient({ origin, token: config.admin.token, timeLimitMs }));
  } catch (cause) {
    // What the receiver calls a bad request was an option that it does not understand.
    const Mistake = cause instanceof AdminError && cause.status === 400 ? UsageError : UserError;
    throw new Mistake(adminErrorMessage(cause, origin, timeLimitMs), { cause });
  }
}

function originOf({ admin }: Config, port: number | undefined): string {
  const host = admin.host.includes(":") ? `[${admin.host}]` : admin.host;
  return `http://${host}:${port ?? admin.port}`;
}

function adminErrorMessage(cause: unknown, origin: string, timeLimitMs: number): string {
  if (cause instanceof AdminError) {
    if (cause.isOtherServer) return `${cause.message}; give its port with ADMIN_PORT or --admin-port`;
    const hint = cause.status === 401 ? " ADMIN_TOKEN here is another than the receiver's." : "";
    return `the receiver answered ${cause.status}: ${cause.message}.${hint}`;
  }
  if (cause instanceof Error && cause.name === "TimeoutError")
    return `${origin} has not answered within ${timeLimitMs / 1000} s; what was asked may still be done`;
  return `${origin} did not answer. Is the receiver running (npm start), with these variables?`;
}
