import { expect } from "chai";
import { PorticoError } from "../../src/index.js";
import type { TransactionData } from "../../types/events.js";
import { chainBlocks, level, startReplica, TestNode } from "./machines.js";

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
}
interface Document {
  paths: Record<string, Record<string, { parameters?: (Parameter | { $ref: string })[] }>>;
  components: { parameters?: Record<string, Parameter> };
}

const transactions = chainBlocks.flatMap((block) => block.transactions ?? []);
const ofType = (type: number): string => transactions.find((one) => one.type === type)?.id ?? "";
const [address, publicKey] = ["AJPicaX6vmFoKoYnDRPqCqYCsGvYoeXgPo", chainBlocks[5]?.generatorPublicKey ?? ""];

/** What a route is asked about, by the beginning of its path; the first that fits. */
const ids: [start: string, id: string][] = [
  ["/wallets", publicKey],
  ["/delegates", publicKey],
  ["/votes", ofType(3)],
  ["/blocks", chainBlocks[10]?.id ?? ""],
  ["/transactions/unconfirmed", transactions.at(-1)?.id ?? ""],
  ["/transactions", transactions[3]?.id ?? ""],
  ["/rounds", "2"],
  ["/locks", ofType(8)],
  ["/v1/blocks", chainBlocks[10]?.id ?? ""],
  ["/v1/transactions/unconfirmed", transactions.at(-1)?.id ?? ""],
  ["/v1/transactions", transactions[3]?.id ?? ""],
];
const values: Record<string, string> = { address, publicKey, generatorPublicKey: publicKey, ip: "10.0.0.2", port: "4001", q: "genesis", username: "genesis_1" };

/** Not the node's to say for a replica: webhooks are managed at the node, the lake is the node's, and health and the document are of each process and its options. Streams do not end. */
const own = /^\/(?:webhooks|lake|health|openapi|events$)/;

/** Besides the routes themselves, at a tip: full pages, earlier heights, another form of amounts. */
const more = (height: number): string[] => [
  ...["blocks?limit=100", "transactions?limit=100", "wallets?limit=100", "delegates?limit=100", "changes?after=genesis&limit=60", "strings/transactions?limit=10"],
  ...[`blocks?at=${height - 40}&limit=100`, `wallets/${publicKey}?at=${height - 40}`, `delegates?at=${height - 40}`, `delegates/${publicKey}/voters?at=${height - 7}`, `blockchain?at=${height - 9}`],
];

describe("A replica, asked by every route of its document", () => {
  it("answers as its node does, to the byte, while blocks come and are reverted", async () => {
    const node = await new TestNode(150).start();
    node.pool.push({ ...(transactions.at(-1) as TransactionData) });
    const replica = await startReplica(node);
    // Replies that tell the time are compared too.
    const now = Date.now();
    for (const { clock } of [node, replica]) clock.stopAt(now);
    const document = (await (await fetch(`${node.url}/openapi.json`)).json()) as Document;

    const rewardsOf = async (id: string): Promise<string | undefined> => {
      const { data } = (await (await fetch(`${node.url}/delegates/${id}/rewards`)).json()) as { data?: { voters: { address: string }[] } };
      return data?.voters[0]?.address;
    };
    const forgers = [...new Set(chainBlocks.slice(0, 150).map(({ generatorPublicKey }) => generatorPublicKey))];
    const rewarded: Record<string, string> = {};
    for (const id of forgers) {
      const voter = await rewardsOf(id);
      if (voter !== undefined) Object.assign(rewarded, { id, address: voter });
    }

    const questionOf = (path: string, given: (Parameter | { $ref: string })[] = []): string => {
      const parameters = given.map((one) => ("$ref" in one ? document.components.parameters?.[one.$ref.split("/").at(-1) ?? ""] : one)).filter((one) => one !== undefined);
      const valueOf = (name: string): string => (path.endsWith("/rewards/{address}") ? rewarded[name] : undefined) ?? values[name] ?? ids.find(([start]) => path.startsWith(start))?.[1] ?? "";
      const query = parameters.filter((one) => one.in === "query" && one.required === true).map(({ name }) => `${name}=${valueOf(name)}`);
      // The second generation's feed and changes begin at the tip if nothing is said.
      if (/\/(?:feed|changes)$/.test(path)) query.push("after=120");
      return `/api${path.replace(/\{(\w+)\}/g, (_, name: string) => valueOf(name))}${query.length === 0 ? "" : `?${query.join("&")}`}`;
    };
    const replyOf = async (origin: string, question: string, body?: string): Promise<string> => {
      const headers = { "api-version": question.startsWith("/api/v1/") ? "1" : "2", ...(body === undefined ? {} : { "content-type": "application/json" }) };
      const reply = await fetch(`${origin}${question}`, { headers, ...(body === undefined ? {} : { method: "POST", body }) });
      return `${reply.status} ${await reply.text()}`;
    };

    const expectSame = async (): Promise<void> => {
      await level(node, replica);
      const asked: Record<string, string> = {};
      const [there, here] = [new URL(node.url).origin, new URL(replica.url).origin];
      const compare = async (question: string, body?: string): Promise<void> => {
        const reply = await replyOf(there, question, body);
        expect(await replyOf(here, question, body), question).to.equal(reply);
        asked[question] = reply.slice(0, 120);
      };
      for (const [path, { get, post }] of Object.entries(document.paths)) {
        if (own.test(path)) continue;
        if (get !== undefined) await compare(questionOf(path, get.parameters));
        else if (path.endsWith("/search")) await compare(questionOf(path, post?.parameters), "{}");
      }
      expect(Object.keys(asked)).to.have.length.at.least(85);
      for (const path of more(node.chain.length)) await compare(`/api/${path}`);
      const failed = Object.entries(asked).filter(([, reply]) => !reply.startsWith("200"));
      expect(failed, "questions that say nothing").to.deep.equal([]);
    };
    await expectSame();
    // A replica that gave events times of its own would show.
    replica.clock.stopAt(now + 60_000);
    await node.grow(30);
    await level(node, replica);
    await node.fork(170, 15);
    await level(node, replica);
    replica.clock.stopAt(now);
    await expectSame();
    expect(await replica.ready()).to.include({ status: 200, behind: 0, lag: 0 });
  });

  it("refuses transactions as its node does, in the same words", async () => {
    const node = await new TestNode(50).start();
    const replica = await startReplica(node, 50);
    await level(node, replica);
    const body = JSON.stringify({ transactions: [transactions.at(-1)] });
    const replyOf = async (url: string): Promise<string> => {
      const reply = await fetch(`${url}/transactions`, { method: "POST", headers: { "content-type": "application/json" }, body });
      return `${reply.status} ${await reply.text()}`;
    };
    for (const refusal of [new PorticoError("UNPROCESSABLE", "No transactions of type 3 today."), new PorticoError("NOT_SUPPORTED", "This node does not accept transactions.")]) {
      node.refusal = refusal;
      const refused = await replyOf(node.url);
      expect(refused).to.include(refusal.message);
      expect(await replyOf(replica.url)).to.equal(refused);
    }
    node.refusal = new PorticoError("NOT_READY", "The pool begins.");
    expect(await replyOf(replica.url)).to.match(/^503 .*The pool begins/);
  });
});
