/** A process that opens and closes an LMDB file without a pause until its parent disconnects: `fork("opening-process.ts", [FILE])`. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { open } from "lmdb";

const [, , path = ""] = process.argv;
for (let times = 0; process.connected; times++) {
  const root = open({ path, noSubdir: true, readOnly: true });
  root.get("nothing");
  await root.close();
  if (times === 0) process.send?.("open");
  await nextTurn();
}
