/** A follower to be killed: `follower-process.ts NODE POSTGRES_PORT USER`, in the database `postgres`. */
import pg from "pg";
import { createClient } from "../../src/client/index.js";
import { runFollower } from "../../src/follower/index.js";
import { applyBlock, openPostgres } from "./rows.js";

const [, , node = "", port = "", user = ""] = process.argv;
const pool = new pg.Pool({ host: "127.0.0.1", port: Number(port), user, database: "postgres" });
process.stdout.write("runs\n");
await runFollower({ client: createClient(node), store: openPostgres(pool).store(true), apply: applyBlock });
