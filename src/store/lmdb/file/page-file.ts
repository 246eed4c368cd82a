import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { type Meta, newerMeta, readMeta } from "./meta-pages.js";

/**
 * An LMDB file, read page by page without LMDB: that maps its file and trusts it, so that a page that is missing or damaged takes the
 * process down.
 */
export interface PageFile {
  readonly path: string;
  /** The meta pages, in their order; undefined where one is damaged. */
  metas(): [first: Meta | undefined, second: Meta | undefined];
  /** Bytes. */
  size(): number;
  /** Fills a buffer with what begins at a page. False if the file ends before. */
  read(page: number, into: Buffer, pageSize: number): boolean;
  close(): void;
}

/** @throws Error with the system's code */
export const openPageFile = (path: string): PageFile => {
  const file = openSync(path, "r");
  return {
    path,
    metas: () => {
      const first = readMeta(file, 0);
      return [first, first && readMeta(file, first.pageSize)];
    },
    size: () => fstatSync(file).size,
    read: (page, into, pageSize) => {
      for (let done = 0; done < into.length; ) {
        const length = readSync(file, into, done, into.length - done, page * pageSize + done);
        if (length === 0) return false;
        done += length;
      }
      return true;
    },
    close: () => closeSync(file),
  };
};

/** What the file holds, by its newest transaction; undefined if a meta page is damaged. */
export const newestMeta = ({ metas }: Pick<PageFile, "metas">): Meta | undefined => {
  const [first, second] = metas();
  return first && second && newerMeta(first, second);
};
