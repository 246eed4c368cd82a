import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { bundled, clientProgram, expected, startChain } from "../client/one-file.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { installOutside } from "../hosts/ark-core/installation.js";

/** The package's client and receiver in other runtimes than Node.js and browsers. */

const [denoArch, bunArch] = process.arch === "arm64" ? ["arm64", "aarch64"] : ["x64", "x64-baseline"];
const runtimes = [
  { name: "Deno", runtime: `@deno/linux-${denoArch}-glibc`, version: "2.9.6", program: "deno", args: ["run", "--no-remote", "--allow-net=127.0.0.1", "--allow-read"] },
  { name: "Bun", runtime: `@oven/bun-linux-${bunArch}`, version: "1.4.5", program: "bin/bun", args: ["run"] },
];

/** Gives the statuses that it answers to the requests of `vectors.json`, at their time. */
const receiverProgram = `
  const { now, vectors } = JSON.parse(await readFile(process.argv[2], "utf8"));
  Date.now = () => now * 1000;
  const statuses = [];
  for (const { secrets, keys, headers, body } of vectors) {
    const { fetch } = createReceiver({ secrets, keys, on: {} });
    statuses.push((await fetch(new Request("http://127.0.0.1/hook", { method: "POST", headers, body }))).status);
  }
  return { answered: statuses, wanted: vectors.map(({ status }) => status) };
`;

for (const { name, runtime, version, program, args } of runtimes) {
  describe(`in ${name} ${version}`, function () {
    this.timeout(300_000);
    let command = "";
    before(() => {
      command = join(installOutside({ name: runtime.replaceAll("/", "-"), packages: [`${runtime}@${version}`] }), "node_modules", runtime, program);
    });

    const run = async (room: "client" | "receiver", imports: string, body: string, ...rest: string[]): Promise<unknown> => {
      const folder = temporaryFolder();
      writeFileSync(join(folder, `${room}.mjs`), await bundled(room));
      const main = join(folder, "main.mjs");
      writeFileSync(main, `${imports}\nconst main = async () => {${body}};\nconsole.log(JSON.stringify(await main()));`);
      // The node is in this process: a call that waits would hold it.
      const { stdout } = await promisify(execFile)(command, [...args, main, ...rest], { cwd: folder });
      return JSON.parse(stdout);
    };

    it("the client reads, walks, follows and proves", async () => {
      const { url } = await startChain();
      expect(await run("client", 'import { createClient } from "./client.mjs";', clientProgram(url))).to.deep.equal(expected);
    });

    it("the receiver answers each request as it must", async () => {
      const imports = 'import process from "node:process"; import { readFile } from "node:fs/promises"; import { createReceiver } from "./receiver.mjs";';
      const vectors = fileURLToPath(new URL("../receiver/vectors.json", import.meta.url));
      const { answered, wanted } = (await run("receiver", imports, receiverProgram, vectors)) as { answered: number[]; wanted: number[] };
      expect(answered).to.deep.equal(wanted);
    });
  });
}
