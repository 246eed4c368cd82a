import { EventSource } from "eventsource";

/** A payload of `transaction.applied` or `transaction.reverted`, as far as a ledger needs it. */
interface Transaction {
  id: string;
  typeGroup: number;
  type: number;
  version: number;
  amount: string;
  fee: string;
  recipientId?: string;
  addresses: string[];
  asset?: { payments?: { amount: string; recipientId: string }[]; claim?: { lockTransactionId: string }; refund?: { lockTransactionId: string } };
}

const names = ["block.applied", "block.reverted", "transaction.applied", "transaction.reverted"];

/** Keeps every wallet's balance by following a node from genesis on, through reorganisations. */
export const followLedger = (api: string, onCursor: (cursor: string) => void) => {
  const balances = new Map<string, bigint>();
  const locks = new Map<string, { amount: bigint; sender: string; recipient: string }>();
  const forgers = new Map<string, Promise<string>>();
  const addressOf = async (publicKey: string): Promise<string> => ((await (await fetch(`${api}/wallets/${publicKey}`)).json()) as { data: { address: string } }).data.address;
  let queue = Promise.resolve();

  const book = ({ id, typeGroup, type, version, amount, fee, recipientId, addresses, asset = {} }: Transaction, by: bigint): void => {
    const add = (address: string, sum: bigint) => balances.set(address, (balances.get(address) ?? 0n) + by * sum);
    const [sender = ""] = addresses;
    const lock = locks.get((asset.claim ?? asset.refund)?.lockTransactionId ?? "");
    if (lock !== undefined) return void add(asset.claim === undefined ? lock.sender : lock.recipient, lock.amount - BigInt(fee));
    add(sender, -BigInt(amount) - BigInt(fee));
    for (const payment of asset.payments ?? []) {
      add(sender, -BigInt(payment.amount));
      add(payment.recipientId, BigInt(payment.amount));
    }
    if (typeGroup === 1 && type === 8 && version === 2) locks.set(id, { amount: BigInt(amount), sender, recipient: recipientId ?? "" });
    else if (recipientId !== undefined) add(recipientId, BigInt(amount));
  };

  const take = async (name: string, data: unknown): Promise<void> => {
    const by = name.endsWith(".applied") ? 1n : -1n;
    if (name.startsWith("transaction.")) return book(data as Transaction, by);
    const { generatorPublicKey, reward, totalFee } = data as { generatorPublicKey: string; reward: string; totalFee: string };
    if (!forgers.has(generatorPublicKey)) forgers.set(generatorPublicKey, addressOf(generatorPublicKey));
    const forger = (await forgers.get(generatorPublicKey)) ?? "";
    balances.set(forger, (balances.get(forger) ?? 0n) + by * (BigInt(reward) + BigInt(totalFee)));
  };

  const source = new EventSource(`${api}/events?after=genesis&event=${names.join()}`);
  /** Events of a group that has not come to its end: only as a whole may they change the ledger. */
  let group: { name: string; data: unknown }[] = [];
  let last = "genesis";
  for (const name of names) {
    source.addEventListener(name, ({ data, lastEventId }) => {
      const event = JSON.parse(data as string) as { data: unknown; cursor: string };
      group.push({ name, data: event.data });
      if (event.cursor !== lastEventId || lastEventId === last) return;
      const whole = group;
      group = [];
      last = lastEventId;
      queue = queue.then(async () => {
        for (const one of whole) await take(one.name, one.data);
        onCursor(lastEventId);
      });
    });
  }
  // After a reconnection the group comes again.
  source.addEventListener("error", () => (group = []));
  return { balances, close: () => source.close() };
};
