import { defineConfig, defineHandler, type Migration, Rejected, UserTokensMissing } from "oncehook";
import { z } from "zod";

type Tables = {
  profiles: { user_id: string; name: string };
};

const tables: Migration = {
  name: "sign-in-profiles",
  async up({ query }) {
    await query.schema
      .createTable("profiles")
      .addColumn("user_id", "text", (column) => column.primaryKey())
      .addColumn("name", "text", (column) => column.notNull())
      .execute();
  },
};

/** Where the platform tells who the owner of a token is; checked here, so that a start without it is refused. */
const USERINFO_URL = process.env.USERINFO_URL ?? "";
if (!URL.canParse(USERINFO_URL)) {
  throw new Error(
    `USERINFO_URL: got ${JSON.stringify(USERINFO_URL)}, expected the platform's user information address; ` +
      "set it as examples/sign-in/README.md shows",
  );
}

const profile = z.object({ sub: z.string(), name: z.string().default("") });

/** Asks the platform who a signed-in user is, with the user's own access token. */
const profileWanted = defineHandler<Tables>()({
  type: "profile_wanted",
  data: z.object({ user_id: z.string() }),
  migrations: [tables],
  async prepare({ event, tokens, signal }) {
    const { user_id } = event.data;
    const { accessToken } = await tokens.for(user_id).catch((error: unknown) => {
      throw error instanceof UserTokensMissing ? new Rejected(error.message) : error;
    });
    const headers = { authorization: `Bearer ${accessToken}` };
    const response = await fetch(USERINFO_URL, { headers, signal });
    if (!response.ok) throw new Error(`${USERINFO_URL} answered ${response.status}`);
    return profile.parse(await response.json());
  },
  async handle({ event, prepared, tx }) {
    const { user_id } = event.data;
    await tx.query
      .insertInto("profiles")
      .values({ user_id, name: prepared.name })
      .onConflict((conflict) => conflict.column("user_id").doUpdateSet({ name: prepared.name }))
      .execute();
    return { user_id, name: prepared.name };
  },
});

export default defineConfig({ handlers: [profileWanted] });
