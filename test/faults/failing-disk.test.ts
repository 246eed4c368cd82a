import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { programOf } from "../fixtures/programs.js";

const run = promisify(execFile);

interface Said {
  health: { status: number; body: { status: string; problem?: string } };
  ready: { status: number; body: { problem?: string } };
  webhook: { status: number; body: { message?: string } };
  wallets: number;
  height: number;
}

interface Outcome {
  before: Said;
  meanwhile: Said;
  after?: Said;
  height: number;
  lines: string[];
  ended: string[];
}

/** Milliseconds that a block took, and that a client waited meanwhile. */
interface Waits {
  perBlock: number;
  reads: number;
  middle: number;
  worst: number;
}

interface Slowed extends Outcome {
  slow: Waits;
  sound: boolean;
  verified: number;
}

/** Commands that give a folder a file system of its own, in a name space that ends with the process. */
const mounts = {
  memory: 'mount -t tmpfs -o size=96m tmpfs "$1"',
  // With a name of its own, which the kernel knows it by.
  ext4: 'truncate -s 96M "$1.img" && mkfs.ext4 -q -F "$1.img" && mount -o loop,errors=remount-ro "$1.img" "$1" && rm "$1.img"',
};

describe("a node whose disk fails", () => {
  const folders: string[] = [];

  /** Undefined where this machine does not let a test mount anything. */
  const inMount = async <Told extends Outcome>(mount: string, mode: string): Promise<Told | undefined> => {
    const folder = mkdtempSync(join(tmpdir(), "portico-disk-"));
    folders.push(folder);
    const unshare = process.getuid?.() === 0 ? ["-m"] : ["-Urm"];
    const within = (command: string) => ["unshare", ...unshare, "sh", "-c", `${mount} && ${command}`, "sh", folder] as const;
    const [command, ...trial] = within("true");
    try {
      await run(command, trial);
    } catch {
      return undefined;
    }
    const [, ...args] = within(`exec "$2" "$3" "$1" ${mode}`);
    const { stdout } = await run(command, [...args, process.execPath, programOf(new URL("failing-disk-process.ts", import.meta.url))], { maxBuffer: 2 ** 24 });
    return JSON.parse(stdout) as Told;
  };

  /** Each is tried again and again for some seconds, in which these nodes do next to nothing: they run beside one another. */
  const failing: Record<string, Promise<Outcome | undefined>> = {};
  before(() => {
    for (const [mode, mount] of [["full", mounts.memory], ["gone", mounts.memory], ["read-only", mounts.ext4]] as const) {
      const outcome = (failing[mode] = inMount(mount, mode));
      // What fails is told by the test that waits for it.
      outcome.catch(() => undefined);
    }
  });
  after(async () => {
    await Promise.allSettled(Object.values(failing));
    for (const folder of folders) for (const path of [folder, `${folder}.img`]) rmSync(path, { recursive: true, force: true });
  });

  const expectSaid = ({ before, meanwhile, lines }: Outcome, reason: RegExp, unready: string): void => {
    expect([before.health.status, before.webhook.status, before.wallets]).to.deep.equal([200, 201, 200]);
    expect([meanwhile.health.status, meanwhile.health.body.status]).to.deep.equal([503, "failing"]);
    expect(meanwhile.health.body.problem).to.match(/^the store cannot be written: /).and.match(reason);
    expect([meanwhile.ready.status, meanwhile.ready.body.problem]).to.deep.equal([503, unready]);
    expect(meanwhile.webhook.status).to.equal(503);
    expect(meanwhile.webhook.body.message).to.match(/^The store cannot be written: /).and.match(reason);
    // What it has is served all the same.
    expect([meanwhile.wallets, meanwhile.height]).to.deep.equal([200, 20]);
    expect(lines.filter((line) => !line.startsWith("info")), lines.join("\n")).to.have.length(1);
    expect(lines[0]).to.match(/^error the store cannot be written: /).and.match(reason);
  };

  it("because it is full says so in health, in replies and in one line of the log, and goes on by itself when there is room", async function () {
    const outcome = await failing["full"];
    if (outcome === undefined) return this.skip();
    expectSaid(outcome, /its disk is full/, "full disk");
    const { after, height, ended } = outcome;
    expect([after?.health.status, after?.health.body.status, after?.webhook.status, after?.height]).to.deep.equal([200, "ok", 201, height]);
    expect(ended).to.have.length(1);
    expect(ended[0]).to.match(/^info the store can be written again, after [\d.]+ s and \d+ failures$/);
  });

  it("because it is unmounted says so in health, in replies and in one line of the log", async function () {
    const outcome = await failing["gone"];
    if (outcome === undefined) return this.skip();
    expectSaid(outcome, /its file is not in its place any more/, "store cannot be written");
  });

  it("because its file system has become read-only says so in health, in replies and in one line of the log", async function () {
    const outcome = await failing["read-only"];
    if (outcome === undefined) return this.skip();
    expectSaid(outcome, /its file system is read-only/, "store cannot be written");
  });

  it("because it has become slow goes on writing block after block, and answers reads without waiting for it", async function () {
    const limit = "/sys/fs/cgroup/blkio/blkio.throttle.io_serviced";
    const outcome = existsSync(limit) ? await inMount<Slowed>(mounts.ext4, "slow") : undefined;
    if (outcome === undefined) return this.skip();
    const { meanwhile, slow, height, lines, sound, verified } = outcome;
    expect([meanwhile.health.status, meanwhile.webhook.status, meanwhile.wallets, meanwhile.height]).to.deep.equal([200, 201, 200, 23]);
    expect(lines).to.deep.equal([]);
    expect(slow.perBlock, "the disk is slow").to.be.above(200);
    expect(slow.reads, "while a block is written, many replies come").to.be.above(5 * 3);
    expect(slow.worst).to.be.below(slow.perBlock);
    expect([sound, verified]).to.deep.equal([true, height]);
  });
});
