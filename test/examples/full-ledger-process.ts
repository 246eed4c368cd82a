/**
 * A process whose files may not grow beyond 64 KB: `sh -c "ulimit -f 128; exec node full-ledger-process.ts FILE"`. It takes deliveries of
 * which one does not fit, opens the ledger anew for the last, and prints what came of each.
 */
import { type Ledger, openLedger } from "../../examples/webhook-receiver/ledger.js";
import { messageOf } from "../../src/errors.js";

// A write beyond the limit must fail with an error, not end the process.
process.on("SIGXFSZ", () => undefined);

const [, , path = ""] = process.argv;
const take = (ledger: Ledger, id: string, padding = ""): boolean | string => {
  try {
    return ledger.take(id, JSON.stringify({ event: "forger.started", data: null, padding }));
  } catch (error) {
    return messageOf(error);
  }
};
const ledger = openLedger(path);
const results = [take(ledger, "1"), take(ledger, "2", "x".repeat(100_000)), take(ledger, "2"), take(ledger, "3"), take(openLedger(path), "2")];
process.stdout.write(JSON.stringify(results));
