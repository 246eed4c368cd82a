import { parseArgs } from "node:util";
import { createClient } from "portico/client";

const { values } = parseArgs({
  options: { node: { type: "string", default: "http://127.0.0.1:4003/api" }, delegate: { type: "string" }, from: { type: "string" }, to: { type: "string" }, share: { type: "string" } },
});
const { node, delegate, share, ...period } = values;
if (delegate === undefined) {
  console.error("Usage: main.ts --delegate NAME [--from HEIGHT] [--to HEIGHT] [--share PERCENT] [--node URL]");
  process.exit(2);
}
try {
  const { voters } = await createClient(node).delegates.rewards(delegate, { ...period, ...(share === undefined ? {} : { share: Number(share) }) });
  const lines = voters.map(({ address, blocks, amount }) => `${address},${blocks},${amount}\r\n`);
  process.stdout.write(`address,blocks,amount\r\n${lines.join("")}`);
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
