/**
 * A savepoint by statements, for libraries that have none of their own. Its name is unique: of two calls at once, none
 * may roll back to the other's.
 */
export async function statementSavepoint<T>(
  execute: (text: string) => Promise<unknown>,
  work: () => Promise<T>,
): Promise<T> {
  const name = `oncehook_${crypto.randomUUID().replaceAll("-", "")}`;
  await execute(`SAVEPOINT ${name}`);
  try {
    const value = await work();
    await execute(`RELEASE SAVEPOINT ${name}`);
    return value;
  } catch (error) {
    // A failure of it means that the transaction has ended, or can only be rolled back.
    await execute(`ROLLBACK TO SAVEPOINT ${name}`).then(
      () => execute(`RELEASE SAVEPOINT ${name}`),
      () => {},
    );
    throw error;
  }
}
