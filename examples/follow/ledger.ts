import type { Lock, Network } from "portico";
import { applyBlock, createChainRules } from "portico/chain";
import { createClient } from "portico/client";

/** Keeps the balance of every wallet by following a node from genesis on, through reorganisations. Yields the cursor after each block. */
export async function* followLedger(api: string, balances: Map<string, bigint>, signal: AbortSignal): AsyncGenerator<string> {
  const client = createClient(api);
  // Amounts of a network may be bigints, as all that are read.
  const rules = createChainRules((await client.node.crypto()) as unknown as Network);
  /** Of all times: a reverted claim opens its lock again. */
  const locks = new Map<string, Lock>();
  for await (const { kind, block, cursor } of client.changes({ after: "genesis", signal })) {
    // Each wallet begins with nothing here: what it has after the block is what the block adds.
    const changes = applyBlock(rules.parseBlock(block), { wallet: () => undefined, lock: (id) => locks.get(id) }, rules);
    const isApplied = kind === "applied";
    for (const [address, { after }] of changes.wallets) balances.set(address, (balances.get(address) ?? 0n) + (isApplied ? after.balance : -after.balance));
    for (const [id, { after }] of changes.locks) if (after !== undefined) locks.set(id, after);
    yield cursor;
  }
}
