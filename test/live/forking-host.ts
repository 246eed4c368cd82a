import type { BlockData, TransactionData } from "../../types/events.js";
import { activeDelegates, blockData, genesis, randomFrom, transferData } from "../follow/schedule.js";

/** One step of a host's chain: a block on its tip, or the last one taken off. */
export type Step = { applied: BlockData } | { reverted: BlockData };

/** A host's chain that grows and forks at random: up to two rounds deep, and now and then back to a branch that it left. */
export class ForkingChain {
  readonly blocks: BlockData[] = [genesis];
  /** Blocks that were on the chain before. */
  private readonly left: BlockData[] = [];
  private made = 0;
  private reverting = 0;
  private readonly random: () => number;
  private readonly name: string;

  constructor(name: string, seed: number) {
    this.name = name;
    this.random = randomFrom(seed);
  }

  take(step: Step): void {
    if ("applied" in step) this.blocks.push(step.applied);
    else this.left.push(...this.blocks.splice(-1));
    if (this.left.length > 200) this.left.splice(0, 100);
  }

  /** What happens next. */
  next(): Step {
    if (this.reverting === 0 && this.random() < 0.12) this.reverting = 1 + Math.floor(this.random() * 2 * activeDelegates);
    const tip = this.blocks.at(-1) ?? genesis;
    if (this.reverting > 0 && this.blocks.length > 1) {
      this.reverting--;
      return { reverted: tip };
    }
    this.reverting = 0;
    const again = this.left.filter(({ previousBlock }) => previousBlock === tip.id);
    if (again.length > 0 && this.random() < 0.4) return { applied: again[Math.floor(this.random() * again.length)] as BlockData };
    const label = `${this.name} ${tip.id.slice(0, 8)} ${this.made++}`;
    const person = (): number => Math.floor(this.random() * 3);
    const transactions = Array.from({ length: person() }, (_, i) => transferData(`${label} ${i}`, Math.floor(this.random() * 100), person(), person()));
    if (this.random() < 0.4) transactions.push(...this.waiting().filter(() => this.random() < 0.6));
    return { applied: blockData(label, tip.height + 1, tip.id, transactions) };
  }

  /** Transactions of blocks that it left, which are in no block now: as a pool has them. A few. */
  private waiting(): TransactionData[] {
    const idsIn = new Set(this.blocks.flatMap(({ transactions = [] }) => transactions.map(({ id }) => id)));
    const left = this.left.slice(-12).flatMap(({ transactions = [] }) => transactions);
    return [...new Map(left.map((one) => [one.id, one])).values()].filter(({ id }) => !idsIn.has(id)).slice(0, 5);
  }
}
