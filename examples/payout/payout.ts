import { setTimeout as delay } from "node:timers/promises";

/** Who gets what of the blocks that a delegate forged: by what each voter had when each block was forged. */

export interface PayoutRequest {
  /** URL of a node's interface, such as `http://127.0.0.1:4003/api`. */
  node: string;
  /** Username, address or public key. */
  delegate: string;
  /** Heights, both included. */
  from: number;
  to: number;
  /** Percent of rewards and fees that voters get. */
  share: number;
}

export interface Payee {
  address: string;
  /** Whole number of 1e-8 of the token. */
  amount: bigint;
  /** Blocks of which it gets something. */
  blocks: number;
}

interface Forged {
  height: number;
  forged: { total: string };
}

/** One request for each block is more than a node may take in a minute: it is asked again when it says so. */
const ask = async (url: string): Promise<Response> => {
  for (;;) {
    const reply = await fetch(url).catch((error: unknown) => {
      throw new Error(`${url} cannot be asked: ${String((error as Error).cause ?? error)}`);
    });
    if (reply.status !== 429) return reply;
    await reply.body?.cancel();
    await delay(Number(reply.headers.get("retry-after") ?? 1) * 1_000);
  }
};

const read = async <T>(url: string): Promise<T> => {
  const reply = await ask(url);
  const body = (await reply.json()) as T & { message?: string };
  if (!reply.ok) throw new Error(`${url}: ${body.message ?? reply.status}`);
  return body;
};

/** The delegate's blocks of the period. As of its end, so that pages stay in place while the chain grows. */
async function* blocksOf({ node, delegate, from, to }: PayoutRequest): AsyncGenerator<Forged> {
  const filter = `at=${to}&height.from=${from}&height.to=${to}&orderBy=height:asc`;
  for (let page = 1, isMore = true; isMore; page++) {
    const { meta, data } = await read<{ meta: { next: string | null }; data: Forged[] }>(`${node}/strings/delegates/${encodeURIComponent(delegate)}/blocks?${filter}&page=${page}`);
    yield* data;
    isMore = meta.next !== null;
  }
}

/** One request for each block. What does not divide is the delegate's. */
export const payout = async (request: PayoutRequest): Promise<Payee[]> => {
  const payees = new Map<string, Payee>();
  for await (const { height, forged } of blocksOf(request)) {
    const { data } = await read<{ data: Record<string, string> }>(`${request.node}/strings/delegates/${encodeURIComponent(request.delegate)}/voters/balances?at=${height}`);
    const voters = Object.entries(data).map(([address, balance]) => ({ address, balance: BigInt(balance) })).filter(({ balance }) => balance > 0n);
    const weight = voters.reduce((sum, { balance }) => sum + balance, 0n);
    // Shares of a percent are kept to four digits.
    const pot = (BigInt(forged.total) * BigInt(Math.round(request.share * 10_000))) / 1_000_000n;
    for (const { address, balance } of voters) {
      const amount = (pot * balance) / weight;
      if (amount === 0n) continue;
      const payee = payees.get(address) ?? { address, amount: 0n, blocks: 0 };
      payees.set(address, { address, amount: payee.amount + amount, blocks: payee.blocks + 1 });
    }
  }
  return [...payees.values()].sort((a, b) => (a.amount === b.amount ? (a.address < b.address ? -1 : 1) : a.amount > b.amount ? -1 : 1));
};

export const csvOf = (payees: readonly Payee[]): string => ["address,amount,blocks", ...payees.map(({ address, amount, blocks }) => `${address},${amount},${blocks}`)].map((line) => `${line}\r\n`).join("");
