import type { Lock, Network } from "portico";
import { applyBlock, createChainRules } from "portico/chain";
import { follow } from "./follow.js";

/** Keeps the balance of every wallet by following a node from genesis on, through reorganisations. Yields the cursor after each block. */
export async function* followLedger(api: string, balances: Map<string, bigint>, signal: AbortSignal, retryAfter?: number): AsyncGenerator<string> {
  const { data: network } = (await (await fetch(`${api}/node/configuration/crypto`, { signal })).json()) as { data: Network };
  const rules = createChainRules(network);
  /** Of all times: a reverted claim opens its lock again. */
  const locks = new Map<string, Lock>();
  for await (const { told: [block, ...events], cursor } of follow(api, "genesis", signal, retryAfter)) {
    const isApplied = block.event === "block.applied";
    // A block is taken back from its end.
    const transactions = (isApplied ? events : events.reverse()).map(({ data }) => data);
    // Each wallet begins with nothing here: what it has after the block is what the block adds.
    const changes = applyBlock(rules.parseBlock({ ...block.data, transactions }), { wallet: () => undefined, lock: (id) => locks.get(id) }, rules);
    for (const [address, { after }] of changes.wallets) balances.set(address, (balances.get(address) ?? 0n) + (isApplied ? after.balance : -after.balance));
    for (const [id, { after }] of changes.locks) if (after !== undefined) locks.set(id, after);
    yield cursor;
  }
}
