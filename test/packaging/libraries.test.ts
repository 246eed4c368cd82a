import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { buildSync } from "esbuild";

/** What runs elsewhere: bytes, minified and gzipped, and the packages that each imports. */
const libraries = [
  { name: "client", most: 10_000, packages: [] },
  { name: "follower", most: 6_000, packages: [] },
  { name: "receiver", most: 6_000, packages: [] },
  { name: "verify", most: 12_000, packages: ["@noble/curves", "@noble/hashes"] },
] as const;

for (const { name, most, packages } of libraries) {
  describe(`portico/${name}`, () => {
    it(`takes at most ${most / 1_000} kB minified and gzipped, and imports nothing but ${packages.join(", ") || "its own files"}`, () => {
      const { outputFiles, metafile } = buildSync({
        entryPoints: [`src/${name}/index.ts`],
        bundle: true,
        minify: true,
        external: ["@noble/*"],
        splitting: true,
        outdir: "dist",
        write: false,
        metafile: true,
        logLevel: "error",
        format: "esm",
        platform: "browser",
      });
      // What is loaded later, if it is asked for, is a file of its own.
      const [file, output] = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === `src/${name}/index.ts`) ?? [];
      const code = outputFiles.find(({ path }) => path === resolve(file ?? ""));
      const imports = (output?.imports ?? []).flatMap(({ kind, path }) => (kind === "dynamic-import" ? [] : [path.split("/").slice(0, 2).join("/")]));
      expect([...new Set(imports)].sort()).to.deep.equal(packages);
      expect(gzipSync(code?.contents ?? "", { level: 9 }).length).to.be.within(1_000, most);
      expect(code?.text).to.not.match(/\bBuffer\.|\bprocess\.\w|\brequire\(/);
    });

    it("is an entry point of the package, for ESM and CommonJS", () => {
      const { exports, typesVersions } = JSON.parse(readFileSync("package.json", "utf8")) as { exports: Record<string, unknown>; typesVersions: { "*": Record<string, unknown> } };
      expect(exports[`./${name}`]).to.deep.equal({ import: `./dist/src/${name}/index.js`, require: `./dist/src/commonjs/${name}.cjs` });
      expect(typesVersions["*"][name]).to.deep.equal([`./dist/src/commonjs/${name}.d.cts`]);
    });
  });
}

describe("what the console loads of them", () => {
  it("is one file in the package, which imports nothing and takes at most 40 kB gzipped", () => {
    const text = readFileSync("dist/src/console/page/lib/client.js", "utf8");
    expect(text).to.match(/ as createClient\b/).and.match(/ as verifyTransaction\b/);
    expect(text).to.not.match(/(?:^|;)import\b|\bfrom"[.@]/);
    expect(gzipSync(text, { level: 9 }).length).to.be.within(1_000, 40_000);
  });
});
