import { createHash } from "node:crypto";

/** Draws that anyone with the same seed can repeat. */
export interface Random {
  /** A whole number in `from`..`to`, both included. */
  between(from: number, to: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** Random bytes in hex. */
  hex(bytes: number): string;
}

export const createRandom = (seed: string): Random => {
  let counter = 0;
  const bytes = (): Buffer => createHash("sha256").update(`${seed}/${counter++}`).digest();
  /** 48 bits: enough that taking a remainder favours no number that a person could notice. */
  const between = (from: number, to: number): number => from + (bytes().readUIntBE(0, 6) % (to - from + 1));
  return {
    between,
    chance: (probability) => bytes().readUIntBE(0, 6) < probability * 2 ** 48,
    pick: <T>(items: readonly T[]): T => items[between(0, items.length - 1)] as T,
    hex: (length) => {
      let hex = "";
      while (hex.length < 2 * length) hex += bytes().toString("hex");
      return hex.slice(0, 2 * length);
    },
  };
};
