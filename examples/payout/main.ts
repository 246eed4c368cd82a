import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: { node: { type: "string", default: "http://127.0.0.1:4003/api" }, delegate: { type: "string" }, from: { type: "string" }, to: { type: "string" }, share: { type: "string" } },
});
const { node, delegate, ...query } = values;
if (delegate === undefined) {
  console.error("Usage: main.ts --delegate NAME [--from HEIGHT] [--to HEIGHT] [--share PERCENT] [--node URL]");
  process.exit(2);
}
try {
  const reply = await fetch(`${node}/delegates/${encodeURIComponent(delegate)}/rewards?${new URLSearchParams({ ...query, format: "csv" }).toString()}`);
  const text = await reply.text();
  if (!reply.ok) throw new Error((JSON.parse(text) as { message: string }).message);
  process.stdout.write(text);
} catch (error) {
  console.error(error instanceof Error ? String(error.cause ?? error.message) : String(error));
  process.exitCode = 1;
}
