/** A block of 100,000 transactions, and as many in blocks of 150: prints what a turn of the loop took at the most while they were indexed, and the memory. `--count`: transactions. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { count } from "../fixtures/long.js";
import { programOf } from "../fixtures/programs.js";

interface Told {
  held: number;
  peak: number;
}

describe("a block of 100,000 transactions", () => {
  const indexed = async (transactions: number, perBlock: number): Promise<Told> => {
    const folder = mkdtempSync(join(tmpdir(), "portico-large-block-"));
    const node = spawn(process.execPath, ["--expose-gc", programOf(new URL("flood-node.ts", import.meta.url)), folder, String(transactions), String(perBlock)], { stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: node.stdout })[Symbol.asyncIterator]();
    const { held, peak } = JSON.parse((await lines.next()).value as string) as Told;
    node.stdin.end();
    await once(node, "exit");
    rmSync(folder, { recursive: true });
    return { held, peak };
  };

  it("holds no turn of the loop for longer than 50 ms", async () => {
    const transactions = count(100_000, 100_000);
    const [none, small, large] = [await indexed(0, 1), await indexed(transactions, 150), await indexed(transactions, transactions)];
    console.log({ transactions, none, small, large });
    expect(large.held).to.be.below(50);
  });
});
