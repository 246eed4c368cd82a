import type { ChainSize } from "../chain/sizes.js";

/** Says how far the building of a store is, every few seconds. */
export interface Progress {
  /** The generator has skipped blocks up to a height, on its way to `reached`, where the store is. */
  skipped(height: number, reached: number): void;
  begin(height: number, transactions: number): void;
  tell(height: number, transactions: number): void;
}

/** Milliseconds. */
const interval = 5_000;

const count = (number: number): string => Math.round(number).toLocaleString("en");

export const createProgress = ({ name, blocks, transactions: all }: ChainSize, say: (line: string) => void): Progress => {
  let begun = { at: performance.now(), transactions: 0 };
  let last = begun;
  return {
    skipped: (height, reached) => say(`${name}: going on from where it stood, ${count(height)} of ${count(reached)} blocks looked through`),
    begin: (height, transactions) => {
      begun = last = { at: performance.now(), transactions };
      if (height > 0) say(`${name}: goes on at block ${count(height)}`);
    },
    tell: (height, transactions) => {
      const now = performance.now();
      if (now - last.at < interval && height < blocks) return;
      const recent = ((transactions - last.transactions) / (now - last.at)) * 1_000;
      const overall = ((transactions - begun.transactions) / (now - begun.at)) * 1_000;
      last = { at: now, transactions };
      const left = overall > 0 ? `${count((all - transactions) / overall)} s left` : "";
      say(`${name}: ${count(height)} of ${count(blocks)} blocks, ${count(transactions)} transactions, ${count(recent)}/s, ${left}`);
    },
  };
};
