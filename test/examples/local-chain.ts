import type { ChainSnapshot } from "../../types/chain-adapter.js";
import type { BlockData } from "../../types/events.js";
import type { Network } from "../../types/node-context.js";
import { type BlockMaker, createBlockMaker } from "../../examples/standalone/chain/block-maker.js";
import { createCast } from "../../examples/standalone/chain/cast.js";
import { blockData, createCrypto, type SignedBlock } from "../../examples/standalone/chain/crypto.js";
import { localNetwork, localSeed } from "../../examples/standalone/chain/genesis.js";
import { castKeyRing } from "../../examples/standalone/chain/key-ring.js";
import type { Random } from "../../examples/standalone/traffic/random.js";
import { createTraffic } from "../../examples/standalone/traffic/traffic.js";
import { createMemoryAdapter } from "../memory-adapter/adapter.js";

/** The epoch time at which the tests' chains continue after genesis: fixed, so that they always forge the same blocks. */
export const beginning = 300_000_000;

/** The network `local`, or one like it, and everything that forges on it, with Portico's rules in memory. `randomOf`: what its traffic is drawn with. */
export const createLocalChain = ({ network = localNetwork(), randomOf }: { network?: Network; randomOf?: (seed: string) => Random } = {}) => {
  const crypto = createCrypto(network);
  const cast = createCast(localSeed, crypto);
  const adapter = createMemoryAdapter(network);
  adapter.apply(network.genesisBlock);

  const snapshot = async (): Promise<ChainSnapshot> => {
    const found = await adapter.snapshot();
    if (found === undefined) throw new Error("the chain has no genesis");
    return found;
  };

  /** The forging parts of a host as after a start, with nothing cached. */
  const createMaker = (): BlockMaker => {
    const traffic = createTraffic(localSeed, cast, crypto, randomOf);
    return createBlockMaker({ crypto, keyRing: castKeyRing(cast), sources: [traffic.next] });
  };

  const forgeNext = async (maker: BlockMaker = createMaker()): Promise<SignedBlock> => {
    const state = await snapshot();
    const turn = await maker.turn(state, beginning, true);
    if (turn === undefined) throw new Error("a slot without a forger");
    return maker.make(state, turn);
  };

  const grow = async (blocks: number): Promise<SignedBlock[]> => {
    const maker = createMaker();
    const made: SignedBlock[] = [];
    for (let count = 0; count < blocks; count++) {
      const block = await forgeNext(maker);
      adapter.apply(blockData(block));
      made.push(block);
    }
    return made;
  };

  return { network, crypto, cast, adapter, snapshot, createMaker, forgeNext, grow };
};

export type LocalChain = ReturnType<typeof createLocalChain>;

let forged: Promise<BlockData[]> | undefined;

/** Genesis and the next 59 blocks of the network `local`, forged once for all tests that only read them. */
export const localBlocks = (): Promise<BlockData[]> => {
  forged ??= (async () => {
    const chain = createLocalChain();
    return [chain.network.genesisBlock, ...(await chain.grow(59)).map(blockData)];
  })();
  return forged;
};
