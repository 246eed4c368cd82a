import { EventEmitter } from "node:events";
import { createApiPlugin } from "../../src/index.js";
import { loadChain } from "../data/read.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";

/** The text of `names.ts`, which `npm run docs` writes: the names of all routes of a node that has every part. */
export const namesText = (): string => {
  const { network } = loadChain("core3-testnet-a");
  const { router } = createApiPlugin({ network, events: new EventEmitter(), chain: createMemoryAdapter(network), options: { metrics: true } });
  const names = router.stack.flatMap(({ name }) => name ?? []).sort();
  const lines = names.map((name) => `  "${name}",\n`).join("");
  return `/** The names of all routes, in their order. \`npm run docs\` writes this file. */\nexport const routeNames = [\n${lines}] as const;\n\nexport type RouteName = (typeof routeNames)[number];\n`;
};

export const namesFile = new URL("names.ts", import.meta.url);
