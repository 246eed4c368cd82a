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
const request = { node, delegate: delegate ?? "", from: Number(from), to: Number(to), share: Number(share) };
const isHeight = (value: number): boolean => Number.isInteger(value) && value >= 1;
if (request.delegate === "" || !isHeight(request.from) || !isHeight(request.to) || !(request.share >= 0 && request.share <= 100)) {
  console.error("Usage: main.ts --delegate NAME --from HEIGHT --to HEIGHT [--share PERCENT] [--node URL]");
  process.exit(2);
}

try {
  process.stdout.write(csvOf(await payout(request)));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
