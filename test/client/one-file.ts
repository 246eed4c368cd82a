import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { StartedNode } from "../fixtures/node.js";
import { startStoredNode } from "../fixtures/stored-chain.js";

/** A room of the package as one file. */
export const bundled = async (room: "client" | "receiver", format: "esm" | "cjs" = "esm"): Promise<string> => {
  const entry = fileURLToPath(new URL(`../../src/${room}/index.ts`, import.meta.url));
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, minify: true, format, target: "es2022", write: false });
  return outputFiles[0]!.text;
};

/** A node for `clientProgram`. */
export const startChain = (): Promise<StartedNode> => startStoredNode("core3-testnet-a", { options: { rateLimit: false, staleAfter: false, webhooks: false } }, 60);

/** What a program does with `createClient`. Returns `expected`. */
export const clientProgram = (url: string): string => `
  const client = createClient(${JSON.stringify(url)});
  const { supply, block } = await client.blockchain.get();
  let rows = 0;
  for await (const row of client.blocks.list({ limit: 25 })) rows++;
  const leaving = new AbortController();
  const events = [];
  await client.follow({ after: 55, events: ["block.*"], signal: leaving.signal, onEvent: ({ data }) => { if (events.push(data.height) === 5) leaving.abort(); } });
  const code = await client.wallets.get("nobody").catch((error) => error.code);
  const { data: [{ id }] } = await client.transactions.list({ limit: 1 });
  const { round: { delegates } } = await client.transactions.proof(id);
  const proven = (await client.transactions.get(id, { proof: { delegates } })).id === id;
  const step = await client.transactions.get(id, { proof: { delegates: delegates.toReversed() } }).catch((error) => error.step);
  return { supply: typeof supply, height: block.height, rows, events, code, proven, step };
`;
export const expected = { proven: true, step: "round", supply: "bigint", height: 60, rows: 60, events: [56, 57, 58, 59, 60], code: "WALLET_NOT_FOUND" };
