import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { type ChainCrypto, createCrypto, type Keys, type SignedTransaction, transactionData } from "../../examples/standalone/chain/crypto.js";
import type { Network } from "../../types/node-context.js";
import { chainFile } from "../data/read.js";
import { spread } from "../fixtures/long.js";
import { until } from "../fixtures/until.js";
import { createReceiver, type Receiver } from "../webhooks/receiver.js";
import { asSent } from "./as-sent.js";
import { type Call, callsOf } from "./calls.js";
import { type Client, firstClient, laterClient, secondGenerationClients } from "./clients.js";
import { type ExampleHost, startExampleHost } from "./example-process.js";
import { firstCallsOf } from "./first-calls.js";
import { cryptoBody, network, tip } from "./knowledge.js";
import { chainName, runningNode } from "./running-node.js";

const latest = secondGenerationClients.at(-1);

/** What is known of a chain is the same whoever serves it; a host's own status, pool and peers are not. */
const ofTheHost = /^(?:node\.(?:status|syncing|configuration)|peers\.|loader\.|transactions\.(?:create|allUnconfirmed|getUnconfirmed)|webhooks\.)/;

describe("the example host, on an imported chain,", () => {
  let host: ExampleHost;
  let known: Record<1 | 2, Record<string, Call[]>>;
  before(async () => {
    host = await startExampleHost((folder) => {
      for (const [name, content] of Object.entries({ ...network, network: network.network } satisfies Network)) {
        writeFileSync(join(folder, `${name}.json`), JSON.stringify(content));
      }
      const file = join(folder, "chain.ndjson");
      writeFileSync(file, chainFile(chainName));
      return ["--network", folder, "--import", file, "--no-forge"];
    });
    const node = await runningNode();
    known = { 1: firstCallsOf(node), 2: callsOf(node) };
  });
  after(async () => {
    expect(await host.stop()).to.equal(0);
  });

  for (const [of, generation] of [...secondGenerationClients.map((client) => [client, 2] as const), [firstClient(1), 1] as const]) {
    it(`answers ${of.name} with what the chain holds, method by method`, async () => {
      const client = of.connect(host.origin);
      let made = 0;
      for (const [resource, methods] of Object.entries(of.methods)) {
        for (const name of methods.map((method) => `${resource}.${method}`).filter((each) => !ofTheHost.test(each))) {
          const calls = (known[generation][name] ?? []).filter(({ withQuery = false }) => of.searchesTakeQuery || !withQuery);
          // The replies depend on the generation alone.
          for (const { args, status = 200, body, check } of generation === 1 || of === latest ? calls : spread(calls, 3)) {
            const answer = await client.call(resource, name.slice(resource.length + 1), args);
            const what = `${name}(${JSON.stringify(args)})`;
            if (check !== undefined) check(answer.body);
            else expect(answer.body, what).to.deep.equal(asSent("number", body));
            expect(answer.status, what).to.equal(status);
            made++;
          }
        }
      }
      expect(made).to.be.greaterThan(50);
    });
  }

  it("reports its own status", async () => {
    const client = laterClient("client-3.0", "3.0.0", "/api").connect(host.origin);
    const data = async (resource: string, method: string): Promise<unknown> => ((await client.call(resource, method, [])).body as { data: unknown }).data;
    expect(await data("node", "syncing")).to.deep.equal({ syncing: false, blocks: 0, height: tip.height, id: tip.id });
    expect(await data("node", "status")).to.include({ synced: true, now: tip.height, blocksCount: 0 });
    expect(await data("node", "configuration")).to.have.nested.property("ports.@arkecosystem/core-api", Number(new URL(host.origin).port));
    expect(await data("node", "crypto")).to.deep.equal((cryptoBody as { data: unknown }).data);
    expect(await data("peers", "all")).to.deep.equal([]);
    expect(await data("transactions", "allUnconfirmed")).to.deep.equal([]);
  });
});

interface PoolReply {
  data: { accept: string[]; broadcast: string[]; invalid: string[]; excess: string[] };
  errors?: Record<string, { type: string; message: string }[]>;
}

const webhookToken = "of the operator's own choosing";
const fee = 10_000_000n;

describe("wallets with each client on the example host, which forges", () => {
  let host: ExampleHost;
  let receiver: Receiver;
  let crypto: ChainCrypto;
  let height: number;
  const reader = laterClient("client-3.0", "3.0.0", "/api");

  const dataOf = async <Data>(client: Client, resource: string, method: string, ...args: unknown[]): Promise<Data> => {
    const { status, body } = await client.call(resource, method, args);
    expect(status, JSON.stringify(body)).to.equal(200);
    return (body as { data: Data }).data;
  };
  const nonceOf = async (client: Client, address: string): Promise<bigint> => BigInt((await dataOf<{ nonce: string }>(client, "wallets", "get", address)).nonce);
  const transfer = (keys: Keys, nonce: bigint, recipientId: string, amount: bigint, vendorField?: string): SignedTransaction => {
    const order = { type: 0, fee, nonce, amount, recipientId, expiration: 0, ...(vendorField === undefined ? {} : { vendorField }) };
    return crypto.sign(order, { senderPublicKey: keys.publicKey, keys }, height);
  };
  /** Resolves when the webhook has reported all of the transactions as forged. */
  const forged = async (...ids: string[]): Promise<void> => {
    const told = (): Set<unknown> => new Set(receiver.received.map(({ json }) => (json.data as { id: unknown }).id));
    while (!ids.every((id) => told().has(id))) await receiver.until(receiver.received.length + 1);
  };

  /** Like any wallet, learns from the node what to sign for. */
  const readNetwork = async (): Promise<void> => {
    const client = reader.connect(host.origin);
    crypto = createCrypto(await dataOf<Network>(client, "node", "crypto"));
    ({ height } = await dataOf<{ height: number }>(client, "node", "syncing"));
  };

  /** The host's own traffic spends from the treasury too: whoever is second with a nonce tries again. */
  const fund = async (address: string, amount: bigint): Promise<void> => {
    const [, from = "", passphrase = ""] = /^A wallet to play with: (\w+), passphrase "([^"]+)"/m.exec(host.welcome) ?? [];
    const client = reader.connect(host.origin);
    for (;;) {
      const nonce = (await nonceOf(client, from)) + 1n;
      const given = transactionData(transfer(crypto.keysOf(passphrase), nonce, address, amount));
      const { data } = (await client.call("transactions", "create", [{ transactions: [given] }])).body as PoolReply;
      for (let spent = !data.accept.includes(given.id); !spent; ) {
        await receiver.until(receiver.received.length + 1);
        spent = (await nonceOf(client, from)) >= nonce;
        if ((await client.call("transactions", "get", [given.id])).status === 200) return;
      }
    }
  };

  before(async () => {
    receiver = await createReceiver();
    host = await startExampleHost(() => ["--forge-interval", "50", "--webhook-token", webhookToken]);
    const client = firstClient(2).connect(host.origin, { "Content-Type": "application/json", Authorization: webhookToken });
    const created = await client.call("webhooks", "create", [{ event: "transaction.forged", target: receiver.url, enabled: true, conditions: [] }]);
    expect(created.status).to.equal(201);
    // The network accepts what wallets sign today, version 2, only once it has a block beyond genesis.
    await receiver.until(1);
    await readNetwork();
  });
  after(async () => {
    expect(await host.stop()).to.equal(0);
    await receiver.close();
  });

  for (const of of secondGenerationClients) {
    it(`${of.name} reads, signs, sends, learns what is refused, and finds what was forged`, async () => {
      const client = of.connect(host.origin);
      const keys = crypto.keysOf(`a wallet of ${of.name}`);
      const address = crypto.addressOf(keys.publicKey);
      const recipient = crypto.addressOf(crypto.keysOf(`a friend of ${of.name}`).publicKey);
      expect((await client.call("wallets", "get", [address])).body).to.have.property("message", "Wallet not found");
      await fund(address, 5_000_000_000n);
      expect(await dataOf(client, "wallets", "get", address)).to.include({ address, balance: 5_000_000_000, nonce: "0", publicKey: null });

      const [first, second, third] = [1n, 2n, 3n].map((nonce) => transactionData(transfer(keys, nonce, recipient, 1_000_000_000n, `number ${nonce}`)));
      const tampered = { ...third, amount: "4000000000" };
      const poor = transactionData(transfer(keys, 3n, recipient, 400_000_000_000n));
      const reply = (await client.call("transactions", "create", [{ transactions: [first, second, tampered, poor] }])).body as PoolReply;
      const ids = [String(first?.id), String(second?.id)];
      expect(reply.data).to.deep.equal({ accept: ids, broadcast: ids, excess: [], invalid: [String(third?.id), poor.id] });
      expect(Object.keys(reply.errors ?? {})).to.have.members([String(third?.id), poor.id]);
      for (const [refusal] of Object.values(reply.errors ?? {})) expect(refusal?.message).to.be.a("string").that.is.not.empty;

      await forged(...ids);
      for (const id of ids) {
        const found = await dataOf<{ confirmations: number; sender: string }>(client, "transactions", "get", id);
        expect(found).to.deep.include({ id, sender: address, recipient, amount: 1_000_000_000, fee: Number(fee) });
        expect(found.confirmations).to.be.at.least(1);
        // It leaves the pool soon after the chain has it.
        await until(async () => ((await client.call("transactions", "getUnconfirmed", [id])).status === 404 ? true : undefined));
      }
      expect(await dataOf(client, "wallets", "get", address)).to.include({ balance: 5_000_000_000 - 2_000_000_000 - 2 * Number(fee), nonce: "2", publicKey: keys.publicKey });
      expect(await dataOf(client, "wallets", "get", recipient)).to.include({ balance: 2_000_000_000 });
      const sent = await dataOf<{ id: string }[]>(client, "wallets", "transactionsSent", address);
      expect(sent.map(({ id }) => id)).to.deep.equal([...ids].reverse());
      const again = (await client.call("transactions", "create", [{ transactions: [first] }])).body as PoolReply;
      expect(again.data.invalid).to.deep.equal(ids.slice(0, 1));
      expect(again.errors?.[String(ids[0])]?.[0]?.type).to.equal("ERR_FORGED");
    });
  }

  it("client 0.1.25, generation 1, reads the same wallet", async () => {
    const client = firstClient(1).connect(host.origin);
    const keys = crypto.keysOf(`a wallet of ${reader.name}`);
    const address = crypto.addressOf(keys.publicKey);
    const { body } = await client.call("accounts", "get", [address]);
    expect(body).to.have.property("success", true);
    expect((body as { account: object }).account).to.include({ address, publicKey: keys.publicKey, balance: String(3_000_000_000n - 2n * fee) });
    const { body: listed } = await client.call("transactions", "all", [{ senderId: address, recipientId: address, orderBy: "timestamp:desc" }]);
    expect(listed).to.have.property("count", 3);
  });
});
