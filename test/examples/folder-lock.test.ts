import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { lockFolder } from "../../examples/standalone/files/folder-lock.js";
import { HostError } from "../../examples/standalone/program/host-error.js";
import { noteOf } from "../../examples/standalone/files/noted-process.js";
import { startUnreaped, type Unreaped } from "../unreaped.js";
import { temporaryFolder } from "../fixtures/folder.js";

const onLinux = process.platform === "linux";
const endless = "setInterval(() => undefined, 60_000);";

describe("the lock of a data folder", () => {
  let folder: string;
  let lock: string;
  let unreaped: Unreaped | undefined;
  beforeEach(() => {
    folder = temporaryFolder();
    lock = join(folder, "node.pid");
  });
  afterEach(async () => {
    await unreaped?.clear();
    unreaped = undefined;
  });

  const refusal = async (limit = 0): Promise<string> =>
    lockFolder(folder, { limit }).then(
      () => "it is taken",
      (error: unknown) => (error instanceof HostError ? error.message : String(error)),
    );
  const inUseBy = (pid: number): string => `The data folder ${folder} is in use by process ${pid}; if that process is not a node, remove ${lock}.`;

  it("is taken at once from a killed node that its parent has not reaped yet (state Z), whether its file has a bare number or not", async function () {
    if (!onLinux) this.skip();
    unreaped = await startUnreaped(["-e", endless]);
    const note = noteOf(unreaped.pid);
    writeFileSync(lock, note);
    expect(await refusal()).to.equal(inUseBy(unreaped.pid));
    await unreaped.kill();
    for (const left of [note, String(unreaped.pid)]) {
      writeFileSync(lock, left);
      const { release } = await lockFolder(folder, { limit: 0 });
      expect(readFileSync(lock, "utf8")).to.equal(noteOf(process.pid));
      await release();
      expect(existsSync(lock)).to.equal(false);
    }
  });

  it("is not held by a process that is gone, by this one before, or by what is no process", async () => {
    const gone = spawnSync(process.execPath, ["--version"]).pid;
    // The last two are of a process that has been given the number of another since.
    for (const stale of [String(gone), String(process.pid), "", "x", `${gone} 1`, ...(onLinux ? [String(process.ppid), `${process.ppid} 1`] : [])]) {
      writeFileSync(lock, stale);
      const { release } = await lockFolder(folder, { limit: 0 });
      expect(readFileSync(lock, "utf8"), stale).to.equal(noteOf(process.pid));
      await release();
      expect(existsSync(lock), stale).to.equal(false);
    }
  });

  it("is not held by a bare number, unless that process has a file of the folder open", async function () {
    if (!onLinux) this.skip();
    for (const bare of [process.ppid, 1]) {
      writeFileSync(lock, String(bare));
      await (await lockFolder(folder, { limit: 0 })).release();
    }
    const log = join(folder, "forged.ndjson");
    unreaped = await startUnreaped(["-e", `fs.openSync(${JSON.stringify(log)}, "a"); console.log("open"); ${endless}`]);
    await unreaped.line(/^open$/);
    writeFileSync(lock, String(unreaped.pid));
    expect(await refusal()).to.equal(inUseBy(unreaped.pid));
  });

  it("is waited for while its holder is just ending", async () => {
    const holder = spawn(process.execPath, ["-e", endless], { stdio: "ignore" });
    await once(holder, "spawn");
    const note = noteOf(holder.pid!);
    writeFileSync(lock, note);
    const told: unknown[] = [];
    const onWait = (error: unknown): void => {
      told.push((error as Error).message);
      holder.kill("SIGKILL");
    };
    const { release } = await lockFolder(folder, { onWait });
    expect(told).to.deep.equal([inUseBy(holder.pid!)]);
    await release();
  });

  it("stays with a holder that does not end, and the wait for it can be ended", async () => {
    const holder = spawn(process.execPath, ["-e", endless], { stdio: "ignore" });
    await once(holder, "spawn");
    try {
      const note = noteOf(holder.pid!);
      writeFileSync(lock, note);
      expect(await refusal(100)).to.equal(inUseBy(holder.pid!));
      const ending = new AbortController();
      const error = await lockFolder(folder, { signal: ending.signal, onWait: () => ending.abort() }).catch((reason: unknown) => reason);
      expect(error).to.have.property("name", "AbortError");
      expect(readFileSync(lock, "utf8")).to.equal(note);
    } finally {
      const ended = once(holder, "exit");
      holder.kill("SIGKILL");
      await ended;
    }
  });
});
