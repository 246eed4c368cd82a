// @ts-check
/**
 * The thread that commits each log of entries (write-log.ts) in one LMDB transaction, and answers when that is on the disk. JavaScript,
 * as is all that it imports: a thread starts without the loader by which a host may run TypeScript.
 */
import { parentPort, workerData } from "node:worker_threads";
import { open } from "lmdb";
import { changeLists } from "../layout/posting-pieces.js";
import { transact, leaveFile } from "./safe/transact.js";

const { path, options, names, owed } = /** @type {import("./environment.js").CommitThreadData} */ (workerData);
const root = open({ path, ...options });
const databases = names.map((name) => root.openDB({ name, keyEncoding: "binary", encoding: "binary" }));
const lists = databases[names.indexOf("lists")];

/** @param {Buffer} log */
const write = (log) => {
  /** @type {import("../layout/posting-pieces.js").Change[]} */
  const ofLists = [];
  for (let begin = 0; begin < log.length; ) {
    const database = databases[log.readUInt8(begin)];
    const key = begin + 7;
    const value = key + log.readUInt16BE(begin + 1);
    const length = log.readUInt32BE(begin + 3);
    begin = value + Math.max(0, length - 1);
    if (begin > log.length) throw new Error("a log of entries breaks off");
    if (database === undefined) continue;
    if (database === lists) ofLists.push({ name: log.subarray(key, value), value: length === 0 ? null : log.subarray(value, begin) });
    else if (length === 0) database.removeSync(log.subarray(key, value));
    else database.putSync(log.subarray(key, value), log.subarray(value, begin));
  }
  if (lists !== undefined) changeLists(lists, ofLists);
};

/**
 * Tries once more after a failure: LMDB now and then stumbles over its own list of free pages ("Invalid zero size key"), which it reads
 * anew for the next transaction. A failure that has a cause happens again.
 * @param {Buffer} log
 */
const writeWhole = (log) => {
  const inTransaction = () => transact({ path, root }, () => write(log));
  try {
    inTransaction();
  } catch (error) {
    try {
      inTransaction();
    } catch {
      throw error;
    }
  }
};

/** @param {Uint8Array} shared @returns {string | undefined} What went wrong, if nothing is written. */
const commit = (shared) => {
  try {
    // A copy, since lmdb-js cannot write from shared memory.
    writeWhole(Buffer.from(shared));
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    Atomics.sub(owed, 0, 1);
    Atomics.notify(owed, 0);
  }
};

parentPort?.on("message", (/** @type {Uint8Array | null} */ log) => {
  if (log !== null) return parentPort?.postMessage(commit(log));
  leaveFile({ root });
  void root.close().then(() => parentPort?.close());
});
