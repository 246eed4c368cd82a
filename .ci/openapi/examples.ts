/**
 * Writes `src/api/examples.ts`: for each operation of the OpenAPI document, a request and the reply that it gets from a node that serves
 * the real chain `core3-custom-c`, with webhooks, a pool, peers and a lake. Long lists are cut to two entries.
 *
 *     npm run docs:examples
 */
import { EventEmitter, once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { createApiPlugin } from "../../src/index.js";
import { parseExactJson } from "../../src/http/input/exact-json.js";
import { publicPeersAt } from "../../test/clients/running-node.js";
import { createTestPool } from "../../test/clients/test-pool.js";
import { loadChain } from "../../test/data/read.js";
import { silentLogger } from "../../test/silent.js";
import { type Ask, type Made, asksOf, waitingOf } from "./requests.js";

interface Operation {
  operationId: string;
  method: string;
  path: string;
  types: string[];
}

const token = "a-token-of-thirty-two-characters!";
const chain = loadChain("core3-custom-c");
const folder = mkdtempSync(join(tmpdir(), "portico-examples-"));

const cut = (value: unknown): unknown => {
  if (Array.isArray(value)) return (value.length > 3 ? value.slice(0, 2) : value).map(cut);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value);
  return Object.fromEntries((members.length > 60 ? members.slice(0, 2) : members).map(([name, member]) => [name, cut(member)]));
};

/** Refuses numbers that a program would round. */
const exactly = (text: string, what: string): unknown => {
  const isRounded = (value: unknown): boolean => (typeof value === "bigint" && BigInt(Number(value)) !== value) || (typeof value === "object" && value !== null && Object.values(value).some(isRounded));
  if (isRounded(parseExactJson(text))) throw new Error(`${what} has an amount that a double rounds`);
  return JSON.parse(text);
};

const target = createServer((_request, response) => response.writeHead(204).end());
target.listen(0, "127.0.0.1");
await once(target, "listening");

const plugin = createApiPlugin({
  network: chain.network,
  events: new EventEmitter(),
  dataDir: join(folder, "data"),
  blocks: { read: (from, limit) => chain.blocks.slice(from - 1, from - 1 + limit) },
  pool: createTestPool(waitingOf(chain)),
  peers: { list: () => publicPeersAt(4003), suspended: () => publicPeersAt(4003).filter(({ status }) => status !== 200) },
  sync: { networkHeight: () => chain.meta.tip.height },
  logger: silentLogger,
  options: {
    staleAfter: false,
    metrics: true,
    rateLimit: false,
    lake: { dir: join(folder, "lake"), blocksPerFile: 100, snapshotEvery: 200 },
    webhooks: { tokens: [token], allowTargets: ["127.0.0.1"], schedule: [1_000] },
  },
});

try {
  const server = await plugin.listen(0);
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const document = (await (await fetch(`${origin}/api/openapi.json`)).json()) as { paths: Record<string, Record<string, { operationId: string; responses: Partial<Record<string, { content?: object }>> }>> };
  const operations: Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, responses }]) => ({ operationId, method: method.toUpperCase(), path, types: Object.keys((responses[200] ?? responses[201] ?? responses[202])?.content ?? {}) })),
  );
  const headers = { authorization: token, "content-type": "application/json" };

  const ask = async ({ method, path }: Operation, { params = {}, query, body }: Ask, prefix: string, accept: string): Promise<string> => {
    const filled = `/api${prefix}${path}`.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(params[name] ?? name));
    const reply = await fetch(`${origin}${filled}${query === undefined ? "" : `?${query}`}`, { method, headers: { ...headers, accept }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    if (!reply.ok) throw new Error(`${method} ${filled}: ${reply.status} ${await reply.text()}`);
    if (accept !== "text/event-stream") return reply.text();
    // A stream has no end: some messages show what it is.
    let text = "";
    for await (const chunk of reply.body ?? []) {
      text += Buffer.from(chunk as Uint8Array).toString();
      if (text.split("\n\n").length > 3) break;
    }
    return `${text.split("\n\n").slice(0, 3).join("\n\n")}\n\n`;
  };

  const made: Partial<Record<string, Made>> = {};
  const until = async (isSo: () => Promise<boolean>): Promise<void> => {
    for (let tries = 0; !(await isSo()); tries++) {
      if (tries > 300) throw new Error("The node is not as far as the examples need it");
      await wait(100);
    }
  };
  await until(async () => (await fetch(`${origin}/api/lake/manifest.json`)).ok && ((await (await fetch(`${origin}/api/lake/manifest.json`)).json()) as { previous: unknown }).previous !== null);

  const { port } = target.address() as AddressInfo;
  const asks = asksOf({ chain, target: `http://127.0.0.1:${port}/hook`, made, get: async (path) => (await (await fetch(`${origin}/api${path}`, { headers })).json()) as unknown, until });
  for (const [operationId, askOf] of Object.entries(asks)) {
    const operation = operations.find((one) => one.operationId === operationId);
    if (operation === undefined) throw new Error(`There is no operation ${operationId}`);
    const { types } = operation;
    const asked = await askOf();
    const shown = { ...(asked.params === undefined ? {} : { params: asked.params }), ...(asked.body === undefined ? {} : { body: asked.body }) };
    const texts: Record<string, string> = {};
    for (const type of types.filter((one) => one !== "application/json")) texts[type] = (asked.shorten ?? ((text: string) => text))(await ask(operation, asked, "", type));
    const kept = Object.keys(texts).length === 0 ? shown : { ...shown, texts };
    if (types.includes("application/json")) {
      const reply = cut(exactly(await ask(operation, asked, "", "application/json"), operationId));
      const again = operation.method === "GET" || /[Ss]earch|Unlocked|Feed/.test(operationId);
      const inText = again && !operation.path.startsWith("/v1") ? cut(JSON.parse(await ask(operation, asked, "/strings", "application/json"))) : reply;
      made[operationId] = { ...kept, reply, ...(JSON.stringify(inText) === JSON.stringify(reply) || !/"\d+"/.test(JSON.stringify(inText)) ? {} : { replyInText: inText }) };
    } else made[operationId] = kept;
  }
  const without = operations.filter(({ operationId }) => made[operationId] === undefined).map(({ operationId }) => operationId);
  console.log(`${Object.keys(made).length} operations have an example; these have none: ${without.join(", ")}`);
  const names = Object.keys(made).sort();
  const lines = names.map((name) => `${JSON.stringify(name)}: ${JSON.stringify(made[name])}`.replaceAll(`http://127.0.0.1:${port}`, "https://explorer.example"));
  const head = `import type { OperationExample } from "../http/route.js";\n\n/** An example of each operation, from a real chain. Written by \`npm run docs:examples\`. */\nexport const examples: Readonly<Record<string, OperationExample>> = {\n`;
  writeFileSync(new URL("../../src/api/examples.ts", import.meta.url), `${head}${lines.join(",\n")},\n};\n`);
} finally {
  await plugin.stop();
  target.closeAllConnections();
  target.close();
  rmSync(folder, { recursive: true });
}
