import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { openBlockLog } from "../../examples/standalone/files/block-log.js";
import { loadChain } from "../data/read.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { programOf } from "../fixtures/programs.js";

describe("the example's log of forged blocks", () => {
  it("keeps every block that fits after one for which the disk was full", async () => {
    const path = join(temporaryFolder(), "forged.ndjson");
    const script = programOf(new URL("full-log-process.ts", import.meta.url));
    const { stdout } = await promisify(execFile)("sh", ["-c", `ulimit -f 128; exec "$0" "$1" "$2"`, process.execPath, script, path]);
    const [first, failed, ...others] = JSON.parse(stdout) as string[];
    expect([first, ...others]).to.deep.equal(["height 2", "height 3", "height 4"]);
    expect(failed).to.match(/forged\.ndjson cannot be written: .*EFBIG/);
    const log = await openBlockLog(path);
    expect(await log.read(2, 10)).to.deep.equal(loadChain("core3-custom-c").blocks.slice(1, 4));
    await log.close();
  });
});
