/**
 * An application that handles one event and kills itself at one of its awaits. Arguments: the library, the database,
 * the event's id, and the number of the await. It prints how many it had where it has fewer.
 */
import { type OnceTransaction, once } from "../../src/once/index.ts";
import { type LibraryName, openerOf } from "./libraries/index.ts";

const [, , name = "", url = "", id = "", number = ""] = process.argv;
const open = await openerOf(name as LibraryName);
const library = await open(url, { connections: 1 });
let awaits = 0;

/** Kills before the statement is sent, while its answer is awaited, or after it. */
async function awaited<T>(send: () => Promise<T>): Promise<T> {
  if (isTheAwait()) kill();
  const isKilledMeanwhile = isTheAwait();
  const answer = send();
  if (isKilledMeanwhile) killWhenSent();
  const value = await answer;
  if (isTheAwait()) kill();
  return value;
}

/** For the statement that the library sends when this returns: RELEASE or COMMIT. */
function leaving(): void {
  if (isTheAwait()) killWhenSent();
}

function isTheAwait(): boolean {
  awaits += 1;
  return awaits === Number(number);
}

/** The statement has left the process by then. */
function killWhenSent(): void {
  setImmediate(() => setImmediate(kill));
}

function kill(): void {
  process.kill(process.pid, "SIGKILL");
}

function observed<Tx>(tx: OnceTransaction<Tx>): OnceTransaction<Tx> {
  return {
    ...tx,
    query: (text, values) => awaited(() => tx.query(text, values)),
    savepoint: (work) =>
      awaited(() =>
        tx.savepoint(async (inner) => {
          const value = await work(observed(inner));
          leaving();
          return value;
        }),
      ),
  };
}

await awaited(() =>
  library.transaction("read committed", async (tx) => {
    await once(observed(library.join(tx)), { source: "shop", id }, async (inner) => {
      await awaited(() => library.insert(inner, "effects", id));
    });
    await awaited(() => library.insert(tx, "audits", id));
    leaving();
  }),
);
await library.close();
process.stdout.write(String(awaits));
