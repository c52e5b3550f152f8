import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { freePort } from "./free-port.ts";
import type { Target } from "./open-target.ts";
import { SECRET, TOKEN } from "./secrets.ts";
import { until } from "./until.ts";

/** A receiver as the README starts it. */
export interface StartedByNpm {
  readonly url: string;
  readonly adminUrl: string;
  /** Sends SIGTERM to npm; resolves with npm's exit code and signal, and with the messages of the log. */
  stop(): Promise<{ ending: unknown[]; messages: string[] }>;
}

/** Lends a receiver that `npm start` has started; what still runs afterwards is stopped. */
export async function withNpmStart<T>(
  target: Target,
  use: (started: StartedByNpm) => Promise<T>,
  env: Record<string, string> = {},
): Promise<T> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const given = {
    APP_ENV: "test",
    SIGNING_SECRET: SECRET,
    ADMIN_TOKEN: TOKEN,
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    DATABASE_URL: target.url,
    ...env,
  };
  const npm = spawn("npm", ["start"], {
    env: { ...process.env, ...given },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const output = text(npm.stdout);
  const ended = once(npm, "exit");
  let isStopped = false;
  const stop = async () => {
    isStopped = true;
    npm.kill("SIGTERM");
    return { ending: await ended, messages: messagesIn(await output) };
  };
  const adminUrl = `http://127.0.0.1:${adminPort}`;
  try {
    await until(() =>
      fetch(`${adminUrl}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    return await use({ url: `http://127.0.0.1:${port}`, adminUrl, stop });
  } finally {
    if (!isStopped) await stop();
  }
}

function messagesIn(output: string): string[] {
  return output.split("\n").flatMap((line) => (line.startsWith("{") ? [String(JSON.parse(line).msg)] : []));
}
