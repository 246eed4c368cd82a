/** A follower that kills itself: `follower-process.ts NODE STATEMENT PLACE…` (`openToDie`). */
import { createClient } from "../../src/client/index.js";
import { runFollower } from "../../src/follower/index.js";
import { openToDie } from "../fixtures/databases.js";
import { applyBlock, inPostgres, inSqlite } from "./rows.js";

const [, , node = "", statement, ...place] = process.argv;
const opened = openToDie(place, Number(statement));
const { store } = "sqlite" in opened ? inSqlite(opened.sqlite) : inPostgres(opened.postgres);
await runFollower({ client: createClient(node), store: store(true), apply: applyBlock });
