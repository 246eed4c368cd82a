/**
 * The public types of all entry points, in one report (`types.txt`): a change of them is seen there, and is committed with it.
 * `check:package` fails while the report is another. `npm run docs:types` builds the library and writes the report.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root, run } from "./host.mjs";

const none = { default: { logLevel: "none" } };

const configuration = (projectFolder, entry) => ({
  projectFolder,
  mainEntryPointFilePath: entry,
  newlineKind: "lf",
  compiler: {
    overrideTsconfig: {
      compilerOptions: {
        target: "ES2022",
        module: "NodeNext",
        lib: ["ES2023", "ES2024.String"],
        types: ["node"],
        strict: true,
        exactOptionalPropertyTypes: true,
        skipLibCheck: true,
      },
      files: [entry],
    },
  },
  apiReport: {
    enabled: true,
    reportFileName: "types.api.md",
    reportFolder: join(projectFolder, "dist/report"),
    reportTempFolder: join(projectFolder, "dist/report/temp"),
    // What an exported type is made of is public, too.
    includeForgottenExports: true,
  },
  docModel: { enabled: false },
  dtsRollup: { enabled: false },
  tsdocMetadata: { enabled: false },
  messages: {
    compilerMessageReporting: none,
    extractorMessageReporting: none,
    tsdocMessageReporting: none,
  },
});

/**
 * @param folder a copy of this repository with its `dist`
 * @param writes whether the report is written, instead of compared
 * @throws if they differ; what differs is shown
 */
export const reportTypes = (folder, writes = false) => {
  const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const entries = Object.entries(exports).flatMap(([name, entry]) => (entry.import === undefined ? [] : [[name, entry.import.replace("./dist/", "./")]]));
  const lines = entries.map(([name, file]) => `export *${name === "." ? "" : ` as ${name.slice(2)}`} from "${file}";`);
  const [entry, config] = ["entries.d.ts", "api-extractor.json"].map((name) => join(folder, "dist", name));
  writeFileSync(entry, `${lines.join("\n")}\n`);
  writeFileSync(config, JSON.stringify(configuration(folder, entry)));
  mkdirSync(join(folder, "dist/report"));
  try {
    run("npx", ["--yes", "--package=@microsoft/api-extractor@7.60.1", "api-extractor", "run", "--config", config, "--local"], root);
    const [reviewed, made] = [join(folder, "test/packaging/types.txt"), readFileSync(join(folder, "dist/report/types.api.md"), "utf8")];
    if (writes) return writeFileSync(reviewed, made);
    if (made === readFileSync(reviewed, "utf8")) return;
    writeFileSync(reviewed, made);
    const diff = run("git", ["diff", "--", reviewed], folder);
    throw new Error(`The public types are not those of test/packaging/types.txt. If they are meant, write it by \`npm run docs:types\`.\n${diff}`);
  } finally {
    for (const path of [entry, config, join(folder, "dist/report")]) rmSync(path, { recursive: true, force: true });
  }
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  run("npm", ["run", "build"], root);
  reportTypes(root, true);
}
