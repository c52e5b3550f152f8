import type { ChildProcess } from "node:child_process";
import type { IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { signHmac } from "../../src/index.ts";
import { ended, startOncehook } from "./child.ts";
import { withHttpServer } from "./http-server.ts";
import { SECRET, TOKEN } from "./secrets.ts";

/** A request as a developer's server got it. */
export interface Arrived {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly eventId: string;
  readonly isAuthentic: boolean;
}

export interface Laptop {
  readonly origin: string;
  readonly arrived: readonly Arrived[];
  /** What the next requests are answered. */
  answer: { status: number; until?: Promise<void> };
}

/** Lends a developer's server, which judges each request by the bytes that it got. */
export async function withLaptop<T>(use: (laptop: Laptop) => Promise<T>, port?: number): Promise<T> {
  const arrived: Arrived[] = [];
  const answer: Laptop["answer"] = { status: 200 };
  return withHttpServer(
    (message, response) => {
      void buffer(message).then(async (body) => {
        arrived.push(arrivedOf(message, body));
        await answer.until;
        response.writeHead(answer.status).end("{}");
      });
    },
    (origin) => use({ origin, arrived, answer }),
    port,
  );
}

function arrivedOf(message: IncomingMessage, body: Buffer): Arrived {
  const { method = "", url = "", rawHeaders } = message;
  const isAuthentic = message.headers["x-signature"] === signHmac(SECRET, body);
  return { method, url, rawHeaders, body, eventId: idOf(body), isAuthentic };
}

function idOf(body: Buffer): string {
  try {
    return String(JSON.parse(body.toString()).event_id);
  } catch {
    return "";
  }
}

/** `oncehook listen` in a process of its own. */
export interface Listening {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Ends it as Ctrl-C does. @returns its exit code */
  interrupt(): Promise<number | null>;
}

export function startListening(
  args: readonly string[],
  env: Record<string, string> = { ADMIN_TOKEN: TOKEN },
  cwd?: string,
): Listening {
  const child = startOncehook(["listen", ...args], { PATH: process.env.PATH ?? "", ...env }, cwd);
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.on("data", (chunk) => {
      printed[name] += chunk;
    });
  }
  const end = ended(child);
  return {
    child,
    stdout: () => printed.stdout,
    stderr: () => printed.stderr,
    async interrupt() {
      child.kill("SIGINT");
      return (await end).code;
    },
  };
}
