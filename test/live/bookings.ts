/** A payload of `transaction.applied` or `transaction.reverted`, as far as a ledger needs it. */
interface Transaction {
  id: string;
  typeGroup?: number;
  type: number;
  version: number;
  amount: string;
  fee: string;
  recipientId?: string;
  addresses: string[];
  asset?: { payments?: { amount: string; recipientId: string }[]; claim?: { lockTransactionId: string }; refund?: { lockTransactionId: string } };
}

interface Block {
  generatorPublicKey: string;
  reward: string;
  totalFee: string;
}

/** What blocks and transactions add to wallets, and take from them. */
export interface Bookings {
  /** By address, without what was forged. */
  readonly balances: ReadonlyMap<string, bigint>;
  /** Rewards and fees by the forger's public key: a block does not name the address. */
  readonly forged: ReadonlyMap<string, bigint>;
  /** Books an event of a block or a transaction, or takes it back: others change nothing. */
  book(event: string, data: unknown): void;
}

export const createBookings = (): Bookings => {
  const [balances, forged] = [new Map<string, bigint>(), new Map<string, bigint>()];
  const locks = new Map<string, { amount: bigint; sender: string; recipient: string }>();
  const add = (to: Map<string, bigint>, name: string, sum: bigint): void => void to.set(name, (to.get(name) ?? 0n) + sum);

  const bookTransaction = ({ id, typeGroup = 1, type, version, amount, fee, recipientId, addresses, asset = {} }: Transaction, by: bigint): void => {
    const move = (address: string, sum: bigint) => add(balances, address, by * sum);
    const [sender = ""] = addresses;
    const lock = locks.get((asset.claim ?? asset.refund)?.lockTransactionId ?? "");
    if (lock !== undefined) return move(asset.claim === undefined ? lock.sender : lock.recipient, lock.amount - BigInt(fee));
    move(sender, -BigInt(amount) - BigInt(fee));
    for (const payment of asset.payments ?? []) {
      move(sender, -BigInt(payment.amount));
      move(payment.recipientId, BigInt(payment.amount));
    }
    if (typeGroup === 1 && type === 8 && version === 2) locks.set(id, { amount: BigInt(amount), sender, recipient: recipientId ?? "" });
    else if (recipientId !== undefined) move(recipientId, BigInt(amount));
  };

  return {
    balances,
    forged,
    book: (event, data) => {
      const by = event.endsWith(".applied") ? 1n : -1n;
      if (/^transaction\.(?:applied|reverted)$/.test(event)) bookTransaction(data as Transaction, by);
      if (!/^block\.(?:applied|reverted)$/.test(event)) return;
      const { generatorPublicKey, reward, totalFee } = data as Block;
      add(forged, generatorPublicKey, by * (BigInt(reward) + BigInt(totalFee)));
    },
  };
};

/** Balances by address with what was forged, whose addresses a node tells. */
export const balancesAt = async (api: string, { balances, forged }: Pick<Bookings, "balances" | "forged">): Promise<Map<string, bigint>> => {
  const all = new Map(balances);
  for (const [publicKey, sum] of forged) {
    const { data } = (await (await fetch(`${api}/wallets/${publicKey}`)).json()) as { data: { address: string } };
    all.set(data.address, (all.get(data.address) ?? 0n) + sum);
  }
  return all;
};
