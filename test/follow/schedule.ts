import { createHash } from "node:crypto";
import { applyBlock } from "../../src/chain/blocks/apply.js";
import type { FullBlock } from "../../src/chain/blocks/block.js";
import { createChainRules } from "../../src/chain/rules.js";
import { type Cursor, cursorText } from "../../src/follow/cursor.js";
import { createFollow, type FollowRoom } from "../../src/follow/create-follow.js";
import type { Batch, Group } from "../../src/follow/follow.js";
import { actors } from "../../src/conformance/chain/actors.js";
import { networkOf } from "../../src/conformance/chain/chain-maker.js";
import { createHostLog, type LogEnvironment } from "../../src/store/follow/host-log.js";
import { createStore, type Store } from "../../src/store/state/store.js";
import type { BlockData, TransactionData } from "../../types/events.js";
import type { HostLog } from "../../types/host-log.js";
import type { Network } from "../../types/node-context.js";
import { firstMilestone } from "../first-milestone.js";

/** Random reorganisations of a real store, and readers that follow it: what the schedules of random forks are made of. */

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export const randomFrom = (seed: number) => {
  let state = seed >>> 0;
  return (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};

export const activeDelegates = 3;
export const hex = (text: string): string => createHash("sha256").update(text).digest("hex");
const people = [actors.ada, actors.bob, actors.cyd];

export const transferData = (label: string, amount: number, sender: number, recipient: number): TransactionData => ({
  id: hex(`transaction ${label}`),
  version: 1,
  type: 0,
  timestamp: 1,
  amount: String(amount),
  fee: "1",
  senderPublicKey: people[sender % 3]!.publicKey,
  recipientId: people[recipient % 3]!.address,
});

export const blockData = (label: string, height: number, previousBlock: string | null, transactions: TransactionData[]): BlockData => ({
  id: hex(`block ${label}`),
  version: 0,
  height,
  timestamp: height * 8,
  previousBlock,
  numberOfTransactions: transactions.length,
  totalAmount: "0",
  totalFee: String(transactions.length),
  reward: "0",
  payloadLength: 0,
  payloadHash: hex(label),
  generatorPublicKey: actors.origin.publicKey,
  blockSignature: "",
  transactions,
});

export const genesis = blockData("genesis", 1, null, [1, 2, 3].map((i) => ({ ...transferData(`genesis ${i}`, 1_000_000, 0, i - 1), senderPublicKey: actors.origin.publicKey })));
export const network: Network = { ...networkOf(genesis), milestones: [firstMilestone(activeDelegates)] };
export const rules = createChainRules(network);

/** Balances by address: what a reader makes of the blocks that it is told of. */
export type Ledger = Map<string, bigint>;

export const book = (ledger: Ledger, { block, transactions }: FullBlock, by: 1n | -1n): void => {
  const add = (address: string, amount: bigint): void => void ledger.set(address, (ledger.get(address) ?? 0n) + by * amount);
  for (const { senderId, recipientId, amount, fee } of transactions) {
    add(senderId, -amount - fee);
    add(recipientId!, amount);
  }
  add(rules.addressOf(block.generatorPublicKey), block.reward + block.totalFee);
};

/** Balances by the chain's own rules, from genesis on. */
export const ledgerOf = (chain: readonly FullBlock[]): Ledger => {
  const wallets = new Map<string, ReturnType<typeof applyBlock>["wallets"] extends Map<string, { after: infer Wallet }> ? Wallet : never>();
  for (const full of chain) {
    const { wallets: changed } = applyBlock(full, { wallet: (address) => wallets.get(address), lock: () => undefined }, rules);
    for (const [address, { after }] of changed) wallets.set(address, after);
  }
  return new Map([...wallets].map(([address, { balance }]) => [address, balance]));
};

type Amounts = Record<"in" | "out" | "fee", string>;

/** A reader that does what it is told, and notices when that makes no sense. */
export class Reader {
  cursor: Cursor;
  readonly blocks: string[] = [];
  readonly ledger: Ledger = new Map();
  /** The same, as bookings add up. */
  readonly booked: Ledger = new Map();
  hostEvents = 0;
  readonly seen = new Set<string>();
  readonly faults: string[] = [];

  readonly confirmations: number;

  constructor(confirmations: number, cursor: Cursor = { block: undefined }) {
    this.confirmations = confirmations;
    this.cursor = cursor;
  }

  private takeChange({ change }: Group): void {
    if (change === undefined) return;
    const { id, previousBlock } = change.full.block;
    const top = this.blocks.at(-1) ?? null;
    if (change.kind === "applied") {
      if (top !== previousBlock) this.faults.push(`${id} applied on ${String(top)}`);
      this.blocks.push(id);
      book(this.ledger, change.full, 1n);
    } else {
      if (top !== id) this.faults.push(`${id} reverted from ${String(top)}`);
      this.blocks.pop();
      book(this.ledger, change.full, -1n);
    }
  }

  private takeBooking(event: string, data: Amounts & { address: string }): void {
    if (!event.startsWith("booking.")) return;
    const by = event === "booking.applied" ? 1n : -1n;
    this.booked.set(data.address, (this.booked.get(data.address) ?? 0n) + by * (BigInt(data.in) - BigInt(data.out) - BigInt(data.fee)));
  }

  take({ groups, cursor }: Batch, known: Map<string, string>): void {
    let at = this.cursor;
    for (const group of groups) {
      if (at.block?.id !== group.before.block?.id) this.faults.push(`${cursorText(at)} is followed by ${cursorText(group.before)}`);
      at = group.after;
      this.takeChange(group);
      if (group.change === undefined) this.hostEvents++;
      for (const { event, data } of group.eventsWithBookings) this.takeBooking(event, data as Amounts & { address: string });
      for (const { id, event, at: time, json } of group.eventsWithBookings) {
        if (this.seen.has(id)) this.faults.push(`${id} told twice`);
        this.seen.add(id);
        const text = `${event} ${time} ${json}`;
        if ((known.get(id) ?? text) !== text) this.faults.push(`${id} is ${text}, but was ${known.get(id)}`);
        known.set(id, text);
      }
    }
    if (cursorText(at) !== cursorText(cursor) && groups.length > 0) this.faults.push(`ends at ${cursorText(cursor)}, not ${cursorText(at)}`);
    this.cursor = cursor;
  }
}

/** A store that reorganises at random, with what it should hold. */
export class Node {
  store!: Store;
  log!: HostLog;
  follow!: FollowRoom;
  readonly chain: FullBlock[] = [];
  /** Blocks that were on the chain before. */
  readonly left: FullBlock[] = [];
  private made = 0;
  private now = 1_700_000_000_000;
  private logged = 0;

  private readonly dataDir: string;
  private readonly name: string;

  constructor(dataDir: string, name: string) {
    this.dataDir = dataDir;
    this.name = name;
    this.open();
  }

  private open(): void {
    const clock = { now: () => this.now++, monotonic: () => 0 };
    this.store = createStore({ dataDir: this.dataDir, undoBlocks: 1_000, disposable: true }, { rules, clock });
    const { path, root } = this.store.environment;
    // A store that is written through the memory map has no child transactions.
    const childTransaction = <T>(work: () => T): Promise<T> => Promise.resolve(root.transactionSync(work));
    const logRoot = Object.create(root, { childTransaction: { value: childTransaction } }) as LogEnvironment["root"];
    this.log = createHostLog({ path, root: logRoot }, { writes: true });
    const changes = { view: () => this.store.changesView(), watch: () => () => undefined };
    this.follow = createFollow({ changes, log: () => this.log, rules, finality: undefined });
  }

  async begin(): Promise<void> {
    await this.write([rules.parseBlock(genesis)], false);
    this.store.markComplete();
    // Before the first event, cursors have no place in the log.
    await this.hostEvent();
  }

  async restart(): Promise<void> {
    await this.store.stop();
    this.open();
  }

  private async write(blocks: FullBlock[], isLive: boolean): Promise<void> {
    await this.store.apply(blocks, 0, isLive ? this.now++ : undefined);
    this.chain.push(...blocks);
  }

  /** A new block on the tip, or one that was on it before. */
  async apply(random: () => number): Promise<void> {
    const tip = this.chain.at(-1)!.block;
    const again = this.left.filter(({ block }) => block.previousBlock === tip.id);
    if (again.length > 0 && random() < 0.4) return this.write([again[Math.floor(random() * again.length)]!], random() < 0.8);
    const label = `${this.name} ${this.made++}`;
    const transactions = Array.from({ length: Math.floor(random() * 3) }, (_, i) => transferData(`${label} ${i}`, Math.floor(random() * 100), Math.floor(random() * 3), Math.floor(random() * 3)));
    await this.write([rules.parseBlock(blockData(label, tip.height + 1, tip.id, transactions))], random() < 0.8);
  }

  async revert(depth: number): Promise<void> {
    for (let i = 0; i < depth && this.chain.length > 1; i++) {
      await this.store.revert();
      this.left.push(this.chain.pop()!);
    }
  }

  /** The host has gone back further than undo records reach: the store is emptied, and built anew. */
  async startOver(fork: number): Promise<void> {
    await this.store.startOver(fork);
    const kept = this.chain.slice(0, fork);
    this.left.push(...this.chain.splice(fork));
    await this.store.apply(kept);
    this.store.markComplete();
  }

  async hostEvent(): Promise<void> {
    const tip = this.chain.at(-1)!.block;
    this.logged++;
    await this.log.append([{ sequence: this.logged, at: this.now++, event: "peer.added", json: `{"number":${this.logged}}`, position: { height: tip.height, id: tip.id } }]);
  }

  get hostEvents(): number {
    return this.logged;
  }

  ledger(upTo: number): Ledger {
    return ledgerOf(this.chain.slice(0, upTo));
  }
}
