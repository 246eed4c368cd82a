import { withoutTrailing } from "../../../text/trim-end.js";
import { type Meta, type Tree, treeAt, treeLength } from "./meta-pages.js";
import { nodeFlags } from "./page.js";
import type { PageFile } from "./page-file.js";
import { type TreeEntry, type TreeVisitor, type TreeWalk, walkTree } from "./tree-walk.js";

/** Is told what the databases of a file have. */
export interface DatabasesVisitor {
  /** The one database to be walked; not given: all. */
  only?: string;
  /** Which order the keys of a database have; undefined if that is not known. */
  order(database: string): TreeWalk["compare"];
  entry(database: string, entry: TreeEntry): void;
  /** Each database, before its entries. */
  tree?(database: string, tree: Tree): void;
  page: TreeVisitor["page"];
  /** `database`: undefined for the names of the databases. */
  fault(database: string | undefined, page: number, what: string): void;
}

export const compareBytes = (one: Buffer, other: Buffer): number => one.compare(other);

/** lmdb-js ends names with a zero byte. */
const nameOf = (key: Buffer): string => withoutTrailing(key.toString("utf8"), "\0");

/** Walks the databases of a file, each by its name. Yields after each page. */
export function* walkDatabases({ main, pageSize, transaction }: Meta, file: Pick<PageFile, "read">, visitor: DatabasesVisitor): Generator<void, void> {
  const walk = { file, pageSize, newest: transaction };
  const found: { name: string; value: Buffer }[] = [];
  yield* walkTree(main, { ...walk, compare: compareBytes }, {
    page: visitor.page,
    fault: (page, what) => visitor.fault(undefined, page, what),
    entry: ({ key, value, flags }) => {
      const name = nameOf(key);
      if (flags === nodeFlags.isDatabase && value.length === treeLength) found.push({ name, value: Buffer.from(value) });
      else visitor.fault(undefined, main.root ?? 0, `lists what is no database: ${JSON.stringify(name)}`);
    },
  });
  for (const { name, value } of found) {
    if (visitor.only !== undefined && visitor.only !== name) continue;
    const tree = treeAt(value);
    visitor.tree?.(name, tree);
    yield* walkTree(tree, { ...walk, compare: visitor.order(name) }, {
      page: visitor.page,
      fault: (page, what) => visitor.fault(name, page, what),
      entry: (entry) => visitor.entry(name, entry),
    });
  }
}
