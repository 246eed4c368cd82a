import type { Meta } from "./meta-pages.js";
import type { PageFile } from "./page-file.js";
import { type TreeVisitor, walkTree } from "./tree-walk.js";

/** Keys of the list of free pages: numbers of transactions. */
const compareNumbers = (one: Buffer, other: Buffer): number => {
  if (one.length !== 8 || other.length !== 8) return one.length - other.length;
  return Number(one.readBigUInt64LE() - other.readBigUInt64LE());
};

interface FreePagesVisitor extends Pick<TreeVisitor, "page" | "fault"> {
  /** Pages that are free. */
  free(first: number, count: number): void;
}

/**
 * Walks the list of free pages. An entry counts its numbers, then has them: each is a page or, if it is negative, the length of a run of
 * pages that begins with the next number; zero stands for nothing.
 */
export const walkFreePages = ({ free, pageSize, transaction }: Meta, file: Pick<PageFile, "read">, visitor: FreePagesVisitor): Generator<void, void> =>
  walkTree(free, { file, pageSize, newest: transaction, compare: compareNumbers }, {
    page: visitor.page,
    fault: visitor.fault,
    entry: ({ value }) => {
      const numberAt = (place: number): number => Number(value.readBigInt64LE(8 * place));
      const room = Math.floor(value.length / 8) - 1;
      for (let place = 1, end = Math.min(room < 0 ? 0 : numberAt(0), room); place <= end; place++) {
        const number = numberAt(place);
        if (number > 0) visitor.free(number, 1);
        else if (number < 0) visitor.free(++place <= room ? numberAt(place) : 0, -number);
      }
    },
  });
