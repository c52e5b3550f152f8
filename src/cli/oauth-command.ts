import { Command } from "commander";
import type { Config } from "../config/index.ts";
import { load } from "./load.ts";
import { UserMistake } from "./user-mistake.ts";

interface StateOptions {
  readonly expiresIn: string;
  readonly adminPort?: string;
  readonly env?: string;
}

const TIME_LIMIT_MS = 10_000;

export function oauthCommand(): Command {
  const state = new Command("state")
    .description("Tell the running receiver to expect a state of a flow that the platform starts itself.")
    .argument("<state>", "the state that the redirect will bring back, at least 16 characters")
    .option("--expires-in <seconds>", "how long it is expected", "600")
    .option("--admin-port <port>", "where the receiver's admin listener is (default: ADMIN_PORT)")
    .option("--env <file>", "read variables from a file as well; the environment wins")
    .action(expectState);
  return new Command("oauth").description("OAuth flows.").addCommand(state);
}

async function expectState(state: string, options: StateOptions): Promise<void> {
  const { config } = await load(options);
  const expiresIn = Number(options.expiresIn);
  if (!Number.isInteger(expiresIn)) {
    throw new UserMistake(`--expires-in: got ${JSON.stringify(options.expiresIn)}, expected whole seconds`);
  }
  const response = await ask(config, options.adminPort, { state, expires_in: expiresIn });
  const answer = (await response.json()) as { expires_at?: string; error?: string };
  if (response.status !== 201)
    throw new UserMistake(`the receiver answered ${response.status}: ${answer.error}`);
  process.stdout.write(`the state is expected until ${answer.expires_at}\n`);
}

async function ask({ admin }: Config, port: string | undefined, body: object): Promise<Response> {
  const host = admin.host.includes(":") ? `[${admin.host}]` : admin.host;
  const url = `http://${host}:${port ?? admin.port}/api/oauth/states`;
  try {
    return await fetch(url, {
      method: "POST",
      headers: { authorization: `Bearer ${admin.token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIME_LIMIT_MS),
    });
  } catch (cause) {
    throw new UserMistake(
      `${url} did not answer. Is the receiver running (npm start), with these variables?`,
      {
        cause,
      },
    );
  }
}
