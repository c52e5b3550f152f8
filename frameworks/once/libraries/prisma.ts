import { PrismaPg } from "@prisma/adapter-pg";
import { type Prisma, PrismaClient } from "@prisma/client";
import { fromPrisma } from "../../../src/once/index.ts";
import { FAILING, type Library, type LibraryOptions } from "../library.ts";

const LEVELS = {
  "read committed": "ReadCommitted",
  "repeatable read": "RepeatableRead",
  serializable: "Serializable",
} as const;
/** Of 64 transactions at once most wait; Prisma's limits are 2 and 5 seconds. */
const PATIENT = { maxWait: 30_000, timeout: 30_000 };

export async function openPrisma(
  url: string,
  { connections = 20 }: LibraryOptions = {},
): Promise<Library<Prisma.TransactionClient>> {
  const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: url, max: connections }) });
  return {
    transaction: (level, work) => prisma.$transaction(work, { isolationLevel: LEVELS[level], ...PATIENT }),
    join: (tx, options) => fromPrisma(tx, options),
    // @ts-expect-error the client is no transaction
    joinPool: () => fromPrisma(prisma),
    insert: (tx, table, note) =>
      table === "effects" ? tx.effect.create({ data: { note } }) : tx.audit.create({ data: { note } }),
    fail: (tx) => tx.$executeRawUnsafe(FAILING),
    close: () => prisma.$disconnect(),
  };
}
