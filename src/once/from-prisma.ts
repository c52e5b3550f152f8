import type { OnceOptions, OnceTransaction, Row } from "./once-transaction.ts";
import { statementSavepoint } from "./statement-savepoint.ts";

/** The client that Prisma's `$transaction` hands over; a `PrismaClient`, which can connect, does not fit. */
export interface PrismaTransaction {
  $queryRawUnsafe(text: string, ...values: unknown[]): PromiseLike<unknown>;
  $executeRawUnsafe(text: string, ...values: unknown[]): PromiseLike<number>;
  readonly $connect?: never;
}

/** For Prisma 7, whose driver adapter is `@prisma/adapter-pg`. */
export function fromPrisma<Tx extends PrismaTransaction>(
  client: Tx,
  { schema }: OnceOptions = {},
): OnceTransaction<Tx> {
  const tx: OnceTransaction<Tx> = {
    handle: client,
    schema,
    query: async (text, values = []) => (await client.$queryRawUnsafe(text, ...values)) as Row[],
    savepoint: (work) =>
      statementSavepoint(
        async (text) => client.$executeRawUnsafe(text),
        () => work(tx),
      ),
  };
  return tx;
}
