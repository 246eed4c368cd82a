import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { expect } from "chai";
import { type Client, createClient } from "../../src/client/index.js";
import type { Delegates, ProofError } from "../../src/verify/index.js";
import { type ChainName, loadChain } from "../data/read.js";
import { isLong, spread } from "../fixtures/long.js";
import type { StartedNode } from "../fixtures/node.js";
import { startStoredNode } from "../fixtures/stored-chain.js";

type Json = Record<string, unknown>;
/** Changes the `data` of a reply. */
type Lie = (data: Json, path: string) => void;

/** What differs from a value, and is of its type. */
const other = (value: unknown): unknown => {
  if (typeof value === "number") return value + 1;
  const text = String(value);
  return /^\d+$/.test(text) ? String(BigInt(text) + 1n) : `${text.slice(0, -1)}${text.endsWith("1") ? "2" : "1"}`;
};

/** Ways to change one leaf of a value. */
function* changes(value: unknown, path: string[] = []): Generator<{ name: string; change: Lie }> {
  if (value === null) return;
  if (typeof value === "object") {
    // Of a list, the last item.
    for (const [name, part] of Object.entries(value).slice(Array.isArray(value) ? -1 : 0)) yield* changes(part, [...path, name]);
    return;
  }
  const last = path.at(-1) ?? "";
  yield {
    name: path.join("."),
    change: (data) => {
      const holder = path.slice(0, -1).reduce((part, step) => part[step] as Json, data);
      holder[last] = other(holder[last]);
    },
  };
}

describe("transactions with proofs, from a node that is not trusted", function () {
  this.timeout(120_000);
  /** Up to here the delegates of core3-custom-c are ranked by the chain's rules. */
  const lastRound = 5;

  for (const name of ["core3-testnet-a", "core3-custom-c"] satisfies ChainName[]) {
    describe(name, () => {
      const { network, blocks } = loadChain(name);
      const { exceptions } = network;
      const transactions = blocks.slice(0, 51 * lastRound).flatMap((block) => block.transactions ?? []).filter(({ typeGroup = 1 }) => typeGroup === 1);
      const kinds = [...new Map(transactions.map((one) => [`${one.version}/${one.type}/${(one.signatures ?? []).length}/${one.vendorField === undefined}`, one])).values()];
      let node: StartedNode;
      const rounds = new Map<number, Delegates>();
      const delegates = (round: number): Delegates | undefined => rounds.get(round);
      let lie: Lie = () => undefined;
      let liar: Client;

      before(async () => {
        node = await startStoredNode(name, { options: { webhooks: false, rateLimit: false, staleAfter: false } });
        const trusted = createClient(node.origin);
        for (let round = 1; round <= lastRound; round++) rounds.set(round, (await trusted.rounds.delegates(round)).map(({ publicKey }) => publicKey));
        liar = createClient(node.origin, {
          fetch: async (url, init) => {
            const reply = await fetch(url, init);
            const body = (await reply.json()) as { data: Json };
            if (reply.ok) lie(body.data, new URL(url).pathname);
            // A weaker proof, of one signature, is checked sooner.
            if ("descendants" in body.data) body.data.descendants = [];
            return Response.json(body, reply);
          },
        });
      });
      beforeEach(() => {
        lie = () => undefined;
      });

      /** Why a transaction is refused; undefined if it is not. */
      const stepOf = async (id: string, change: Lie, options: object = {}): Promise<string | undefined> => {
        lie = change;
        return liar.transactions.get(id, { proof: { delegates, exceptions, ...options } }).then(
          () => undefined,
          // Here the verifier that is loaded later may be another copy.
          (error: unknown) => ((error as Error).name === "ProofError" ? (error as ProofError).step : (error as Error).message),
        );
      };
      const shown = (change: Lie): Lie => (data, path) => void (/\/transactions\/\w+$/.test(path) && change(data, path));

      it("are those that a true node shows, of every type", async () => {
        const client = createClient(node.origin);
        for (const { id } of new Set([...kinds, ...spread(transactions, 8)])) expect(await stepOf(id, () => undefined), id).to.equal(undefined);
        for (const { id } of spread(transactions.slice(200), 2)) {
          const proof = { delegates, network: network.network, milestones: network.milestones, threshold: 20 };
          expect(await client.transactions.get(id, { proof })).to.deep.equal(await client.transactions.get(id));
        }
        expect(await client.transactions.find("0".repeat(64), { proof: { delegates } })).to.equal(undefined);
      });

      it("are refused where any member but `confirmations` is not the signed one, or one is added", async () => {
        const tried = new Set<string>();
        for (const { id } of kinds) {
          const { json } = await node.get(`/v2/transactions/${id}`);
          for (const { name: member, change } of changes((json as { data: Json }).data)) {
            if (!isLong && tried.has(member)) continue;
            tried.add(member);
            expect(await stepOf(id, shown(change)), `${member} of ${id}`).to.equal(member === "confirmations" ? undefined : "shown");
          }
        }
        for (const { id } of spread(kinds, 4)) {
          const payments = [{ amount: "1", recipientId: network.genesisBlock.transactions?.[0]?.recipientId }];
          expect(await stepOf(id, shown((data) => void (data.asset = { ...(data.asset as Json | undefined), extra: 1, payments }))), id).to.equal("shown");
        }
      });

      it("are refused with the proof of another transaction, and with exceptions, milestones or rounds of the node's own", async () => {
        const [one, two] = transactions.filter(({ type, version }) => type === 0 && version === 2).slice(-2);
        const { data: proof } = (await node.get(`/v2/transactions/${two?.id ?? ""}/proof`)).json as { data: Json };
        const id = one?.id ?? "";
        expect(await stepOf(id, (data, path) => void (path.endsWith("/proof") && Object.assign(data, proof)))).to.equal("shown");
        const forge: Lie = (data, path) => {
          if (path.endsWith("/crypto")) return void (data.exceptions = { transactionIdFixTable: fixed });
          if (!path.endsWith("/proof")) return void (data.fee = String(Number(data.fee) + 1));
          const transaction = data.transaction as { serialized: string };
          const bytes = hexToBytes(transaction.serialized);
          bytes[50] = (bytes[50] ?? 0) + 1;
          transaction.serialized = bytesToHex(bytes);
          fixed[bytesToHex(sha256(bytes))] = id;
        };
        const fixed: Record<string, string> = {};
        expect(await stepOf(id, forge)).to.equal("transaction");
        expect(await stepOf(id, (data, path) => void (path.endsWith("/crypto") && (data.milestones as Json[]).forEach((milestone) => (milestone.activeDelegates = 1))))).to.equal("round");
        expect(await stepOf(id, () => undefined, { delegates: () => undefined })).to.equal("round");
        expect(await stepOf(id, () => undefined, { threshold: 52 })).to.equal("threshold");
      });
    });
  }
});
