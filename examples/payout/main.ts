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
  const { cause = error } = error as { cause?: unknown };
  console.error(cause instanceof Error ? cause.message : String(cause));
  process.exitCode = 1;
}
