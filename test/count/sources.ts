import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path/posix";

interface Source {
  path: string;
  lines: string[];
}

const read = (...patterns: string[]): Source[] =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "--", ...patterns], { encoding: "utf8" })
    .split("\n")
    .filter((path) => path !== "")
    .flatMap((path) => {
      try {
        return [{ path, lines: readFileSync(path, "utf8").replace(/\n$/, "").split("\n") }];
      } catch {
        return []; // Deleted, and not yet committed.
      }
    });

const linesOf = (sources: readonly Source[]): number => sources.reduce((sum, { lines }) => sum + lines.length, 0);

/** How many files import each file, by its path. */
const countImporters = (sources: readonly Source[]): Map<string, number> => {
  const importers = new Map<string, number>();
  for (const { path, lines } of sources) {
    const imported = new Set(
      [...lines.join("\n").matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)].map(([, name = ""]) => normalize(join(dirname(path), name)).replace(/\.js$/, "")),
    );
    for (const name of imported) importers.set(name, (importers.get(name) ?? 0) + 1);
  }
  return importers;
};

const percent = (part: number, whole: number): number => Math.round((part / whole) * 1000) / 10;

const code = ["ts", "cts", "js", "cjs", "mjs", "html", "css"];
const codeIn = (...folders: string[]): Source[] => read(...folders.flatMap((folder) => code.map((ending) => `${folder}/*.${ending}`)));

/** What runs elsewhere has bounds of its own: the sizes of `test/packaging`. */
const isLibrary = ({ path }: Source): boolean => /^src\/(?:client|follower|receiver|verify)\//.test(path);

/** Lines, files and words of the tree, as they are on disk: of every file that is code, by hand or generated, and of every document. */
export const measureSources = (): Record<string, number> => {
  const all = codeIn("src", "types");
  const sources = all.filter((source) => !isLibrary(source));
  const importers = countImporters(sources);
  const small = sources.filter(({ path, lines }) => lines.length < 60 && importers.get(path.replace(/\.(ts|js)$/, "")) === 1);
  const long = sources.flatMap(({ lines }) => lines).filter((line) => line.length > 140);
  const glossary = /^## Words$(.*?)^## /ms.exec(readFileSync("src/README.md", "utf8"))?.[1]?.match(/^\| /gm)?.length ?? 0;
  const words = read("*.md").reduce((sum, { lines }) => sum + lines.join(" ").split(/\s+/).filter(Boolean).length, 0);
  return {
    "lines of src and types": linesOf(sources),
    "files of src and types": sources.length,
    "% of files under 60 lines with one importer": percent(small.length, sources.length),
    "% of lines over 140 characters": percent(long.length, linesOf(sources)),
    "rows of the glossary": Math.max(0, glossary - 1),
    "lines of the libraries for those who call a node": linesOf(all.filter(isLibrary)),
    "lines of tests": linesOf(codeIn("test")),
    "words of the documents": words,
  };
};
