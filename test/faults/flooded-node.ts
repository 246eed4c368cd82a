import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { atEndOfTest } from "../at-end.js";
import { temporaryFolder } from "../fixtures/folder.js";
import { programOf } from "../fixtures/programs.js";

/** What a node says of itself (flood-node.ts). */
export interface Told {
  port: number;
  connections: number;
  /** MB that the process cannot let go of: told if asked for `memory`. */
  kept: number;
  /** Milliseconds of processor time that one turn of its loop took at the most since it was last asked. */
  held: number;
  /** Milliseconds to read a body of the kind that was asked for, and to write it: how fast this machine is now. */
  reading?: number;
  /** MB of memory that it ever had at the most. */
  peak: number;
}

export interface FloodedNode {
  readonly child: ChildProcess;
  readonly folder: string;
  /** What it said first. */
  readonly told: Told;
  look(line: "held" | "memory" | "numbers" | "addresses"): Promise<Told>;
}

/** Starts a node with a chain of so many transactions, until the tests that need it have ended. */
export const startFloodedNode = async (transactions: number, perBlock = 500): Promise<FloodedNode> => {
  const folder = temporaryFolder();
  const child = spawn(process.execPath, ["--expose-gc", programOf("test/faults/flood-node.ts"), folder, String(transactions), String(perBlock)], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  // It stops, however it was flooded.
  atEndOfTest(() => (child.stdin.end(), ended));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<Told> => JSON.parse((await lines.next()).value as string) as Told;
  const told = await nextLine();
  const look: FloodedNode["look"] = (line) => {
    child.stdin.write(`${line}\n`);
    return nextLine();
  };
  return { child, folder, told, look };
};
