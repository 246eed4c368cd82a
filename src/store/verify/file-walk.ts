import { existsSync } from "node:fs";
import { compareBytes, walkDatabases } from "../lmdb/file/databases.js";
import { fullLengthName } from "../lmdb/file/file-check.js";
import { walkFreePages } from "../lmdb/file/free-pages.js";
import { type Meta, wholeLength } from "../lmdb/file/meta-pages.js";
import { nodeFlags, pageHeader } from "../lmdb/file/page.js";
import { newestMeta, type PageFile } from "../lmdb/file/page-file.js";
import type { EntryCheck } from "./entry-check.js";

/** More address space than a process has. */
const largestMap = 2 ** 46;

/** LMDB writes its two meta pages in turn: that of an even transaction first. */
const metaFaults = (file: PageFile): string[] => {
  const [first, second] = file.metas();
  if (first === undefined || second === undefined) return ["a meta page is damaged"];
  const inTurn = first.transaction % 2n === 0n && second.transaction % 2n === 1n && (first.transaction - second.transaction) ** 2n === 1n;
  // Of a file that was never written.
  const isNew = first.transaction === second.transaction && first.transaction <= 1n;
  const faults = inTurn || isNew ? [] : [`its meta pages are those of transactions ${first.transaction} and ${second.transaction}, which do not follow each other`];
  if ([first, second].some(({ mapSize }) => mapSize > largestMap)) faults.push("a meta page says that the file may be larger than any can be");
  return faults;
};

/** Whether a meta page leads to a page that its own transaction has written, and to none of a later one: each transaction writes the root of what it changes. */
const leadsToItsOwn = (meta: Meta, file: PageFile): boolean => {
  const written = [meta.free.root, meta.main.root].flatMap((root) => {
    const header = Buffer.alloc(pageHeader.length);
    return root !== undefined && root <= meta.lastPage && file.read(root, header, meta.pageSize) ? [header.readBigUInt64LE(pageHeader.transaction)] : [];
  });
  return written.length === 0 || (written.includes(meta.transaction) && written.every((transaction) => transaction <= meta.transaction));
};

/** How often that is looked at while another process writes: it may use the pages of the older meta page a moment later. */
const mostLooks = 10;

/** By a meta page that says another number than its own, the state before the last transaction may be taken for the newest. */
const numberFaults = (file: PageFile): string[] => {
  for (let looks = 1; ; looks++) {
    const metas = file.metas();
    const wrong = metas.filter((meta) => meta !== undefined && !leadsToItsOwn(meta, file));
    const isStill = file.metas().every((meta, place) => meta?.transaction === metas[place]?.transaction);
    if (wrong.length === 0) return [];
    if (isStill || looks === mostLooks) return wrong.map((meta) => `a meta page says that it is of transaction ${meta?.transaction}, but leads to pages of another`);
  }
};

/** What uses each page: a page that two things use would be overwritten by one of them. */
const createPageUse = (lastPage: number) => {
  const used = new Uint8Array(lastPage + 1);
  return (first: number, count: number): string | undefined => {
    if (!Number.isSafeInteger(first) || first < 2 || count < 1 || first + count - 1 > lastPage) return "is none of the file's pages";
    for (let page = first; page < first + count; page++) if (used[page] === 1) return page === first ? "is used twice" : `and those after it include page ${page}, which is used twice`;
    used.fill(1, first, first + count);
    return undefined;
  };
};

const isInUseByWriter = (file: PageFile): boolean => existsSync(`${file.path}-writer`);

/** Reads a whole file: its trees, its free pages, and each entry. Yields after each page. Returns what is wrong. */
export function* walkFile(file: PageFile, checks: readonly EntryCheck[]): Generator<void, string[]> {
  const faults = [...metaFaults(file), ...numberFaults(file)];
  const meta: Meta | undefined = newestMeta(file);
  if (meta === undefined) return faults;
  if (meta.lastPage > largestMap / meta.pageSize) return [...faults, "its newest meta page is damaged"];
  const use = createPageUse(meta.lastPage);
  const noted = { fullLength: false };

  yield* walkDatabases(meta, file, {
    page: use,
    order: () => compareBytes,
    tree: (database, { flags }) => {
      if (flags !== 0) faults.push(`database "${database}": its tree has flags that it cannot have`);
    },
    fault: (database, number, what) => void faults.push(`${database === undefined ? "the list of databases" : `database "${database}"`}: page ${number} ${what}`),
    entry: (database, { key, value, flags }) => {
      if ((flags & ~nodeFlags.onOtherPages) !== 0) faults.push(`database "${database}": an entry has flags that it cannot have`);
      noted.fullLength ||= database === "meta" && key.toString("latin1") === fullLengthName;
      for (const check of checks) check.entry(database, key, value);
    },
  });
  yield* walkFreePages(meta, file, {
    page: use,
    fault: (number, what) => void faults.push(`the list of free pages: page ${number} ${what}`),
    free: (first, count) => {
      const wrong = use(first, count);
      if (wrong !== undefined) faults.push(`the list of free pages: page ${first} ${wrong}`);
    },
  });
  if (noted.fullLength && !isInUseByWriter(file) && file.size() < wholeLength(meta)) faults.push(`it is ${wholeLength(meta) - file.size()} bytes shorter than it was`);
  return faults;
}
