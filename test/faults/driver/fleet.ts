import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../../support/free-port.ts";
import type { Target } from "../../support/open-target.ts";
import { type Launched, launchServer, type ServerProcess } from "../../support/process.ts";

/** The project of the receivers under fire: its handlers are the ledger's. */
const LEDGER = fileURLToPath(new URL("../ledger", import.meta.url));

const ENVIRONMENT = {
  RATE_LIMIT_DEFAULT: "off",
  RATE_LIMIT_CALLBACK: "off",
  LOG_LEVEL: "fatal",
  RETRY_DELAY_SECONDS: "1",
};

export interface FleetOptions {
  readonly size?: number;
  readonly env?: Record<string, string>;
}

interface Member {
  readonly port: number;
  /** Undefined while it is down. */
  process: Launched | undefined;
}

/** Receivers in processes of their own behind one database, each of which comes back where it was. */
export class Fleet {
  readonly #target: Target;
  readonly #env: Record<string, string>;
  readonly #members: readonly Member[];
  #ends = 0;

  private constructor(target: Target, env: Record<string, string>, ports: readonly number[]) {
    this.#target = target;
    this.#env = { ...ENVIRONMENT, ...env };
    this.#members = ports.map((port) => ({ port, process: undefined }));
  }

  static async start(target: Target, { size = 1, env = {} }: FleetOptions = {}): Promise<Fleet> {
    const ports: number[] = [];
    for (let at = 0; at < size; at += 1) ports.push(await freePort());
    const fleet = new Fleet(target, env, ports);
    try {
      // One after the other: the first one brings the schema.
      for (let at = 0; at < size; at += 1) await fleet.up(at);
      return fleet;
    } catch (error) {
      await fleet.destroy();
      throw error;
    }
  }

  get origins(): string[] {
    return this.#members.map(({ port }) => `http://127.0.0.1:${port}`);
  }

  /** How many have ended by themselves while they were kept up. */
  get ends(): number {
    return this.#ends;
  }

  pid(at: number): number {
    return Number(this.#running(at).child.pid);
  }

  /** As `pid`; undefined while it is down. */
  pidIfUp(at: number): number | undefined {
    return this.#member(at).process?.child.pid;
  }

  /** Whatever a receiver prints from now on. */
  hear(at: number, listener: (text: string) => void): void {
    const { stdout, stderr } = this.#running(at).child;
    for (const stream of [stdout, stderr]) stream?.on("data", (chunk) => listener(String(chunk)));
  }

  serving(at: number): Promise<ServerProcess> {
    return this.#running(at).ready;
  }

  /** Starts a receiver that is down, and waits until it serves. @param env on top of what all of them have */
  async up(at: number, env?: Record<string, string>): Promise<ServerProcess> {
    await this.launch(at, env);
    return this.#running(at).ready;
  }

  /** Starts a receiver that is down, and waits for nothing. */
  async launch(at: number, env: Record<string, string> = {}): Promise<void> {
    const member = this.#member(at);
    if (member.process !== undefined) throw new Error(`receiver ${at} is up`);
    const given = { ...this.#env, ...env, PORT: String(member.port) };
    member.process = await launchServer(this.#target, given, LEDGER);
  }

  /** Kills a receiver where it stands, serving or still starting; one that is down stays so. */
  async kill(at: number): Promise<void> {
    this.#member(at).process?.child.kill("SIGKILL");
    await this.ended(at);
  }

  /** Resolves when a receiver has ended, by itself or not: with its exit code, or the signal. */
  async ended(at: number): Promise<number | NodeJS.Signals | null> {
    const member = this.#member(at);
    const ending = await member.process?.ended;
    member.process = undefined;
    return ending ?? null;
  }

  /** Asks a receiver to end, as a service manager does. @throws Error when it does not end well */
  async stop(at: number): Promise<void> {
    const { process } = this.#member(at);
    if (process === undefined) return;
    process.child.kill("SIGTERM");
    const ending = await this.ended(at);
    if (ending === 0) return;
    throw new Error(`after SIGTERM the receiver ended with ${ending}: ${process.lastWords()}`);
  }

  /** Starts whoever ends by itself, as a service manager does, until it is told to end. */
  keepUp(): { end(): Promise<void> } {
    let isOver = false;
    const managers = this.#members.map(async (member, at) => {
      while (!isOver) {
        if (member.process === undefined) await this.launch(at);
        const ending = await Promise.race([member.process?.ended, sleep(50)]);
        if (ending === undefined) continue;
        member.process = undefined;
        this.#ends += 1;
        await sleep(50);
      }
      if (member.process === undefined) await this.launch(at);
      await this.#running(at).ready;
    });
    return {
      async end() {
        isOver = true;
        await Promise.all(managers);
      },
    };
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.#members.map((_, at) => this.stop(at)));
  }

  /** Leaves nothing behind, whatever has happened. */
  async destroy(): Promise<void> {
    await Promise.all(this.#members.map((_, at) => this.kill(at)));
  }

  #running(at: number): Launched {
    const { process } = this.#member(at);
    if (process === undefined) throw new Error(`receiver ${at} is down`);
    return process;
  }

  #member(at: number): Member {
    const member = this.#members[at];
    if (member === undefined) throw new Error(`there is no receiver ${at}`);
    return member;
  }
}
