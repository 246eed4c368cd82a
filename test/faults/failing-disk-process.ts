/**
 * A node on a file system of its own, which fails under it: `node failing-disk-process.ts FOLDER MODE`. MODE is `full`,
 * `gone` (unmounted), `read-only` (an error of ext4) or `slow` (the kernel lets a few writes a second through). It prints what the node says
 * before, meanwhile and, where that can be, afterwards.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { EventEmitter } from "eventemitter3";
import { createApiPlugin, verifyStore } from "../../src/index.js";
import { loadChain } from "../data/read.js";

const [, , folder = "", mode = ""] = process.argv;
const { network, blocks } = loadChain("core3-custom-c");
const events = new EventEmitter();
const log: string[] = [];
const note = (level: string) => (message: string) => void log.push(`${level} ${message}`);
const logger = { debug: () => undefined, info: note("info"), warn: note("warn"), error: note("error") };
let height = 20;
const token = "a-token-of-thirty-two-characters!";

const plugin = createApiPlugin({
  network,
  events,
  dataDir: join(folder, "data"),
  blocks: { read: (from, limit) => blocks.slice(from - 1, Math.min(height, from - 1 + limit)) },
  logger,
  options: { webhooks: { tokens: [token] } },
});
const server = await plugin.listen(0);
const { port } = server.address() as { port: number };
const base = `http://127.0.0.1:${port}/api`;

const addBlock = (): void => {
  events.emit("block.applied", blocks[height]);
  height++;
};

const ask = async (path: string, init: RequestInit = {}): Promise<{ status: number; body: unknown }> => {
  const response = await fetch(base + path, init);
  return { status: response.status, body: await response.json() };
};

const createWebhook = () =>
  ask("/webhooks", {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ event: "peer.added", target: "https://receiver.example/", enabled: true, conditions: [] }),
  });

const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
  for (const end = performance.now() + 100_000; !(await isSo()); await delay(20)) {
    if (performance.now() > end) throw new Error(`waited in vain; the log has ${JSON.stringify(log)}`);
  }
};

const status = async () => ({ health: await ask("/health"), ready: await ask("/health/ready"), webhook: await createWebhook(), wallets: (await ask("/wallets")).status, height: plugin.health().height });

const ballast = join(folder, "ballast");
const fill = (): void => {
  const { bavail, bsize } = statfsSync(folder);
  try {
    writeFileSync(ballast, Buffer.alloc(bavail * bsize));
  } catch {
    // Until nothing more fits.
  }
};

/** Such as `loop0`. */
const device = (): string => readFileSync("/proc/self/mounts", "utf8").split("\n").find((line) => line.split(" ")[1] === folder)?.split(" ")[0]?.split("/").at(-1) ?? "";

const groups = "/sys/fs/cgroup/blkio";
const group = join(groups, `portico-${process.pid}`);
/** Writes a second that the disk takes from this process, all its threads included. */
const writesPerSecond = 45;
const slowDown = (): void => {
  mkdirSync(group);
  writeFileSync(join(group, "blkio.throttle.write_iops_device"), `${readFileSync(`/sys/block/${device()}/dev`, "utf8").trim()} ${writesPerSecond}`);
  writeFileSync(join(group, "cgroup.procs"), String(process.pid));
};
const endSlowness = (): void => {
  writeFileSync(join(groups, "cgroup.procs"), String(process.pid));
  rmdirSync(group);
};

const fail = {
  full: fill,
  gone: () => void execFileSync("umount", ["-l", folder]),
  "read-only": () => writeFileSync(`/sys/fs/ext4/${device()}/trigger_fs_error`, "1"),
  slow: slowDown,
};

/** What a client waits for replies while blocks are written one after the other, and how long these take. */
const readWhileWriting = async (blockCount: number) => {
  const done = new AbortController();
  const waits: number[] = [];
  const reading = (async () => {
    while (!done.signal.aborted) {
      const begun = performance.now();
      const { status } = await ask("/wallets");
      waits.push(performance.now() - begun);
      if (status !== 200) throw new Error(`a read was answered with ${status}`);
      await delay(5);
    }
  })();
  const begun = performance.now();
  for (let count = 0; count < blockCount; count++) {
    addBlock();
    await plugin.settled();
  }
  const perBlock = (performance.now() - begun) / blockCount;
  done.abort();
  await reading;
  waits.sort((one, other) => one - other);
  return { perBlock, reads: waits.length, middle: waits[waits.length >> 1], worst: waits.at(-1) };
};

await plugin.settled();
const before = await status();
const logged = log.length;
if (mode === "slow") {
  slowDown();
  const slow = await readWhileWriting(3);
  const meanwhile = await status();
  endSlowness();
  await plugin.stop();
  const { sound, height: verified } = await verifyStore({ dataDir: join(folder, "data") });
  process.stdout.write(JSON.stringify({ before, meanwhile, height, lines: log.slice(logged), slow, sound, verified }));
  process.exit(0);
}
fail[mode as keyof typeof fail]();
// What is written for the webhooks may be the first to fail.
for (let count = 0; count < 50; count++) events.emit("peer.added", { ip: `192.0.2.${count}` });
addBlock();
await until(() => plugin.health().status === "failing");
for (let count = 0; count < 50; count++) events.emit("peer.added", { ip: `192.0.2.${count}` });
// The block is tried again each second, as are the webhooks' own writes.
await delay(2_500);
const meanwhile = await status();
const lines = log.slice(logged);
let after: Awaited<ReturnType<typeof status>> | undefined;
if (mode === "full") {
  rmSync(ballast);
  await until(() => plugin.health().status === "ok" && plugin.health().height === height);
  addBlock();
  await plugin.settled();
  after = await status();
}
process.stdout.write(JSON.stringify({ before, meanwhile, after, height, lines, ended: log.slice(logged + lines.length) }));
// Nothing more can be written in the other modes.
await plugin.stop().catch(() => undefined);
process.exit(0);
