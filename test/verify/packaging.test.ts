import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { buildSync, type BuildOptions } from "esbuild";

const bundle = (more: BuildOptions) =>
  buildSync({ entryPoints: ["src/verify/index.ts"], bundle: true, minify: true, external: ["@noble/*"], write: false, metafile: true, logLevel: "error", ...more });

describe("portico/verify", () => {
  it("runs in browsers beside @noble alone, and takes at most 12 kB minified and gzipped", () => {
    const { outputFiles, metafile } = bundle({ format: "esm", platform: "browser" });
    const [code] = outputFiles ?? [];
    const imports = Object.values(metafile?.outputs ?? {}).flatMap((output) => output.imports.map(({ path }) => path));
    expect([...new Set(imports.map((path) => path.split("/").slice(0, 2).join("/")))].sort()).to.deep.equal(["@noble/curves", "@noble/hashes"]);
    expect(gzipSync(code?.contents ?? "", { level: 9 }).length).to.be.below(12_000);
    expect(code?.text).to.not.match(/\bBuffer\.|\bprocess\.\w|\brequire\(|\bfetch\(/);
  });

  it("is an entry point of the package, for ESM and CommonJS", () => {
    const { exports, typesVersions } = JSON.parse(readFileSync("package.json", "utf8")) as { exports: Record<string, unknown>; typesVersions: { "*": Record<string, unknown> } };
    expect(exports["./verify"]).to.deep.equal({ import: "./dist/src/verify/index.js", require: "./dist/src/commonjs/verify.cjs" });
    expect(typesVersions["*"].verify).to.deep.equal(["./dist/src/commonjs/verify.d.cts"]);
    expect(readFileSync("src/commonjs/verify.cts", "utf8")).to.include('require("../verify/index.js")');
  });
});
