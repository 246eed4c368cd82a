import { parseArgs } from "node:util";
import { csvOf, payout } from "./payout.js";

const { values } = parseArgs({
  options: {
    node: { type: "string", default: "http://127.0.0.1:4003/api" },
    delegate: { type: "string" },
    from: { type: "string" },
    to: { type: "string" },
    share: { type: "string", default: "100" },
  },
});
const { node, delegate, from, to, share } = values;
if (delegate === undefined || from === undefined || to === undefined) throw new Error("Usage: main.ts --delegate NAME --from HEIGHT --to HEIGHT [--share PERCENT] [--node URL]");

process.stdout.write(csvOf(await payout({ node, delegate, from: Number(from), to: Number(to), share: Number(share) })));
