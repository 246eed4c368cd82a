/** How the node of the test of kills keeps its chain and its lake. */
export const importOptions = { finality: 10, undoBlocks: 30, rateLimit: false } as const;
export const lakeOptions = { blocksPerFile: 20, snapshotEvery: 50 } as const;

const lastOf = (height: number, each: number): number => Math.floor((height - importOptions.finality) / each) * each;

/** The last block of the lake's files, and its last snapshot, of a chain so high. */
export const lakeEnds = (height: number): { block: number; snapshot: number } => ({ block: lastOf(height, lakeOptions.blocksPerFile), snapshot: lastOf(height, lakeOptions.snapshotEvery) });
