/**
 * A process whose files may not grow beyond 64 KB: `sh -c "ulimit -f 128; exec node full-ledger-process.ts FILE"`. It takes deliveries of
 * which one does not fit, opens the ledger anew for the last, and prints what came of each.
 */
import { type Ledger, openLedger } from "../../examples/webhook-receiver/ledger.js";
import { messageOf } from "../../src/errors.js";

// A write beyond the limit must fail with an error, not end the process.
process.on("SIGXFSZ", () => undefined);

const [, , path = ""] = process.argv;
const take = async ({ inbox }: Ledger, id: string, address = "a"): Promise<boolean | string> => {
  let isNew = false;
  try {
    await inbox.once(id, (changes) => {
      isNew = true;
      changes.push([address, "id", 1n]);
      return Promise.resolve();
    });
    return isNew;
  } catch (error) {
    return messageOf(error);
  }
};
const ledger = openLedger(path);
const results = [];
for (const [id, address] of [["1"], ["2", "x".repeat(100_000)], ["2"], ["3"]]) results.push(await take(ledger, id ?? "", address));
results.push(await take(openLedger(path), "2"));
process.stdout.write(JSON.stringify(results));
