/** Express 5 and better-sqlite3 as one would write it by hand: one transaction a callback, WAL, synchronous=FULL. */
import Database from "better-sqlite3";
import { serveExpress } from "./serve-express.mjs";
import { sqliteWrites } from "./sqlite-writes.mjs";

const database = new Database(process.env.DATABASE_FILE);
serveExpress(database.transaction(sqliteWrites(database)).immediate);
