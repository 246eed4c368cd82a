import { createHash } from "node:crypto";

/** Random draws that the same seed reproduces. */
export interface Random {
  /** A whole number in `from`..`to`, inclusive. */
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
  /** 48 bits: enough that the bias of taking a remainder is negligible. */
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
