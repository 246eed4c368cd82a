/**
 * Records the replies of every route over both real chains, so that a change that must not change any can be checked:
 *
 *     npm run replies -- record before.ndjson      (before the change)
 *     npm run replies -- record after.ndjson       (after it)
 *     npm run replies -- compare before.ndjson after.ndjson
 *
 * The requests are the same each time: each path of the OpenAPI documents, with versions, forms of amounts, encodings, wrong methods and
 * wrong input, and some thousand random ones about what is in the chains.
 */
import { EventEmitter } from "node:events";
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { createApiPlugin } from "../../src/index.js";
import { type ChainName, loadChain } from "../data/read.js";
import { namesIn, questionsAbout } from "../e2e/random-questions.js";

interface Request {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

interface Recorded {
  chain: ChainName;
  request: Request;
  reply: { status: number; headers: Record<string, unknown>; body: string };
}

const chains: ChainName[] = ["core3-testnet-a", "core3-custom-c"];
const randomRequests = 2000;

const forms: Record<string, string>[] = [
  {},
  { "API-Version": "2" },
  { "API-Version": "1" },
  { "API-Version": "3" },
  { Accept: "application/vnd.core-api.v1+json" },
  { "API-Amounts": "string" },
  { "API-Amounts": "unknown" },
  { "Accept-Encoding": "br" },
  { Origin: "https://a.example" },
];

/** Every documented path, in each form, with each method, a trailing slash and a parameter that nobody knows. */
const documented = (paths: Record<string, unknown>, names: ReturnType<typeof namesIn>): Request[] =>
  Object.keys(paths).flatMap((template) => {
    const subject = template.includes("/blocks") ? names.blocks[40] : template.includes("/transactions") ? names.transactions[5] : names.addresses[3];
    const path = template.replace(/\{\w+\}/g, subject ?? "1");
    return [
      ...forms.map((headers) => ({ method: "GET", path, headers })),
      ...["HEAD", "OPTIONS", "DELETE", "POST", "PUT"].map((method) => ({ method, path })),
      { method: "OPTIONS", path, headers: { Origin: "https://a.example", "Access-Control-Request-Method": "GET" } },
      { method: "GET", path: `${path}/` },
      { method: "POST", path: `${path}/` },
      { method: "GET", path: `${path}?unknown=1` },
      { method: "GET", path: `${path}?limit=3&page=2` },
    ];
  });

/** The event stream, which has no end, is left out. */
const isEndless = ({ path }: Request): boolean => /^\/api\/events\/?(?:\?|$)/.test(path);

const ask = (port: number, { method, path, headers, body }: Request): Promise<Recorded["reply"]> =>
  new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, method, path, agent: false, headers: { ...headers, "X-Request-Id": "recorded" } };
    const sent = request(options, (response) => {
      buffer(response).then((bytes) => {
        const { date: _date, connection: _connection, "keep-alive": _keepAlive, ...rest } = response.headers;
        const isHashed = bytes.length > 2000 || response.headers["content-encoding"] !== undefined;
        // Each node has a key of its own.
        const text = isHashed ? createHash("sha256").update(bytes).digest("hex") : bytes.toString().replace(/whpk_[\w+/=]+/g, "whpk_");
        const sorted = Object.fromEntries(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1)));
        resolve({ status: response.statusCode ?? 0, headers: sorted, body: text });
      }, reject);
    });
    sent.on("error", reject).end(body);
  });

const recordChain = async (chain: ChainName, keep: (recorded: Recorded) => void): Promise<void> => {
  const { network, blocks } = loadChain(chain);
  const dataDir = mkdtempSync(join(tmpdir(), "portico-replies-"));
  const source = { read: (from: number, limit: number) => blocks.slice(from - 1, from - 1 + limit), height: () => blocks.length };
  const now = Date.parse("2026-01-01T00:00:00Z");
  const silent = (): void => undefined;
  const plugin = createApiPlugin({
    network,
    events: new EventEmitter(),
    dataDir,
    blocks: source,
    clock: { now: () => now },
    logger: { debug: silent, info: silent, warn: silent, error: silent },
    options: { webhooks: { tokens: ["recorded token"] }, rateLimit: false },
  });
  try {
    const { port } = (await plugin.listen(0)).address() as AddressInfo;
    const names = namesIn(blocks);
    const { paths } = (await (await fetch(`http://127.0.0.1:${port}/api/openapi.json`)).json()) as { paths: Record<string, unknown> };
    const random = fc.sample(questionsAbout(names), { numRuns: randomRequests, seed: 1 });
    const requests: Request[] = [
      ...documented(paths, names).map((each) => ({ ...each, path: `/api${each.path}` })),
      ...random.map(({ method, path, body, encoding }) => ({ method, path, ...(body === undefined ? {} : { body }), headers: encoding === undefined ? {} : { "Accept-Encoding": encoding } })),
    ];
    for (const one of requests.filter((each) => !isEndless(each))) keep({ chain, request: one, reply: await ask(port, one) });
  } finally {
    await plugin.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
};

const record = async (file: string): Promise<void> => {
  const out = createWriteStream(file);
  let count = 0;
  for (const chain of chains) {
    await recordChain(chain, (recorded) => {
      count += 1;
      out.write(`${JSON.stringify(recorded)}\n`);
    });
  }
  out.end();
  console.log(`recorded ${count} replies in ${file}`);
};

/** Exits with 1 if any reply differs. */
const compare = (before: string, after: string): void => {
  const [first, second] = [before, after].map((file) => readFileSync(file, "utf8").trimEnd().split("\n")) as [string[], string[]];
  const different = first.flatMap((line, index) => (line === second[index] ? [] : [[line, second[index]]]));
  for (const [was, is] of different.slice(0, 20)) console.log(`- ${was}\n+ ${is}\n`);
  console.log(`${first.length} replies before, ${second.length} after, ${different.length} different`);
  if (different.length > 0 || first.length !== second.length) process.exitCode = 1;
};

const [command, first, second] = process.argv.slice(2);
if (command === "record" && first !== undefined) await record(first);
else if (command === "compare" && first !== undefined && second !== undefined) compare(first, second);
else {
  console.error("usage: npm run replies -- record FILE | compare FILE FILE");
  process.exitCode = 2;
}
