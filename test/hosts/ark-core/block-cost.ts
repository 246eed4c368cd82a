/**
 * What Portico adds to the processor time of an ARK Core 3 node for each block: `node --import tsx test/hosts/ark-core/block-cost.ts [PAIRS]`.
 * The node takes a real chain's blocks one after the other, with the plugin and without it, in turns, in one run. Its whole process is
 * counted, commit thread included.
 */
import { setTimeout as delay } from "node:timers/promises";
import { loadChain } from "../../data/read.js";
import { until } from "../../fixtures/until.js";
import { createStage, type Stage } from "./stage.js";

/** Blocks before it are for warming up. */
const from = 121;
/** Milliseconds between two blocks. */
const pace = 100;

const { network, blocks } = loadChain("core3-custom-c");
const counted = blocks.slice(from - 1);
const transactions = counted.reduce((sum, { numberOfTransactions }) => sum + numberOfTransactions, 0) / counted.length;

/** Milliseconds of processor time for a block. */
const measure = async (stage: Stage, withPortico: boolean): Promise<number> => {
  await stage.start({ forging: [], ownInterface: false, porticoPort: withPortico ? stage.ports.portico : false });
  const node = stage.running();
  const isStored = (height: number) => until(async () => ((await node.standing()).stored >= height ? true : undefined));
  const isServed = (height: number) => until(async () => (await stage.portico.get("/blockchain")).height === height || undefined);
  let begun = 0;
  for (const block of blocks.slice(1)) {
    if (block.height === from) begun = (await node.standing()).spent;
    await Promise.all([node.enqueueBlocks([block]).then(() => isStored(block.height)), delay(pace)]);
  }
  if (withPortico) await isServed(blocks.length);
  const spent = (await node.standing()).spent - begun;
  await node.removeBlocks(blocks.length - 1);
  if (withPortico) await isServed(1);
  await node.terminate();
  return spent / counted.length;
};

const pairs = Number(process.argv[2] ?? 2);
const stage = await createStage(network);
try {
  console.log(`${counted.length} blocks of ${transactions.toFixed(1)} transactions on average; milliseconds of processor time for each:`);
  for (let pair = 0; pair < pairs; pair++) {
    const first = pair % 2 === 1;
    const [one, two] = [await measure(stage, first), await measure(stage, !first)];
    const [alone, beside] = first ? [two, one] : [one, two];
    console.log(`  the node ${alone.toFixed(1)}, with Portico ${beside.toFixed(1)}: ${(beside - alone).toFixed(1)} more`);
  }
} finally {
  await stage.close();
}
