import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { EventEmitter } from "eventemitter3";
import { expect } from "chai";
import { createApiPlugin } from "../../src/index.js";
import { createChainRules } from "../../src/chain/rules.js";
import { createStore } from "../../src/store/state/store.js";
import type { NodeContext } from "../../types/node-context.js";
import type { ApiPlugin } from "../../types/plugin.js";
import { loadChain } from "../data/read.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";
import { silentLogger } from "../silent.js";
import { startUnreaped } from "../unreaped.js";
import { closeTemporaryStores, temporaryFolder } from "./temporary-store.js";
import { programOf } from "../fixtures/programs.js";
import { storeBlocks } from "../fixtures/stored-blocks.js";

const name = "core3-custom-c";
const chain = loadChain(name);
const programs = { chain: "holding-process.ts", webhooks: "../webhooks/holding-process.ts" } as const;
const argumentsOf = (which: keyof typeof programs): string[] => [programOf(new URL(programs[which], import.meta.url))];

describe("a store whose writer is just ending", () => {
  const plugins: ApiPlugin[] = [];
  let holding: ChildProcess | undefined;
  afterEach(async () => {
    for (const plugin of plugins.splice(0)) await plugin.stop();
    if (holding?.exitCode === null && holding.signalCode === null) {
      const ended = once(holding, "exit");
      holding.kill("SIGKILL");
      await ended;
    }
    await closeTemporaryStores();
  });

  const create = (context: Partial<NodeContext>): ApiPlugin => {
    const plugin = createApiPlugin({ network: chain.network, events: new EventEmitter(), ...context });
    plugins.push(plugin);
    return plugin;
  };
  const hold = async (which: keyof typeof programs, dataDir: string): Promise<void> => {
    if (which === "chain") await storeBlocks(name, 1, 10, dataDir);
    holding = spawn(process.execPath, [...argumentsOf(which), dataDir], { stdio: ["ignore", "pipe", "inherit"] });
    await once(holding.stdout!, "data");
  };

  for (const which of ["chain", "webhooks"] as const) {
    it(`is waited for, up to 5 s, and then started with: ${which}.mdb`, async () => {
      const dataDir = temporaryFolder();
      await hold(which, dataDir);
      const told: string[] = [];
      const info = (message: string): void => {
        if (!message.startsWith("waiting")) return;
        told.push(message);
        holding?.kill("SIGTERM");
      };
      const adapter = which === "chain" ? {} : { chain: createMemoryAdapter(chain.network) };
      await create({ dataDir, ...adapter, logger: { ...silentLogger, info } }).start();
      expect(told).to.have.length(1);
      expect(told[0]).to.match(new RegExp(`^waiting: .*${which}\\.mdb is being written by process ${holding?.pid}: stop it, or .+`));
    });
  }

  it("is no longer waited for once the plugin stops, and can be waited for anew", async () => {
    const dataDir = temporaryFolder();
    await hold("chain", dataDir);
    const waits: (() => void)[] = [];
    const info = (message: string): void => {
      if (message.startsWith("waiting")) waits.shift()?.();
    };
    const plugin = create({ dataDir, logger: { ...silentLogger, info } });
    const waiting = new Promise<void>((resolve) => waits.push(resolve));
    const starting = plugin.start();
    await waiting;
    await plugin.stop();
    await starting;
    expect(plugin.health().status).to.equal("stopped");
    waits.push(() => holding?.kill("SIGTERM"));
    await plugin.start();
    expect(plugin.health().status).to.equal("ok");
  });

  it("is refused when that does not end", async () => {
    const dataDir = temporaryFolder();
    await hold("chain", dataDir);
    let ahead = 0;
    const monotonic = (): number => performance.now() + ahead;
    const plugin = create({ dataDir, clock: { now: Date.now, monotonic }, logger: { ...silentLogger, info: (message) => void (message.startsWith("waiting") && (ahead = 5_000)) } });
    const error = await plugin.start().catch((reason: unknown) => reason);
    expect(error).to.have.property("code", "STORE_IN_USE");
  });

  it("is opened at once if that was killed, and its parent has not reaped it yet (state Z)", async function () {
    if (process.platform !== "linux") this.skip();
    const dataDir = temporaryFolder();
    await storeBlocks(name, 1, 10, dataDir);
    const killed = await startUnreaped([...argumentsOf("chain"), dataDir]);
    try {
      await killed.line(/^open$/);
      const open = () => createStore({ dataDir, undoBlocks: 10 }, { rules: createChainRules(chain.network) });
      expect(open).to.throw("is being written by process");
      await killed.kill();
      const store = open();
      expect(store.tip()?.height).to.equal(1);
      await store.stop();
    } finally {
      await killed.clear();
    }
  });
});
