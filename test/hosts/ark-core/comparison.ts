import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { activeDelegates } from "./network.js";
import type { Served } from "./served.js";

/** What both interfaces show of the same state, in one form: amounts as digits, absent values left out. */

type Row = Record<string, unknown>;

const at = (value: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((inside, name) => (typeof inside === "object" && inside !== null ? (inside as Row)[name] : undefined), value);

/** Makes numbers and their digits equal, and drops members without a value. */
const plain = (value: unknown): unknown => {
  if (typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value))) return String(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined && member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, plain(member)]));
};

const by = (rows: Row[], name: string): Record<string, unknown> => Object.fromEntries(rows.map((row) => [String(row[name]), plain(row)]));

/** Those that Portico has, too. */
const attributesIn = (wallet: Row): Row => ({
  ...Object.fromEntries(["vote", "secondPublicKey", "multiSignature"].map((name) => [name, at(wallet, `attributes.${name}`)])),
  delegate: membersOf(at(wallet, "attributes.delegate"), "username", "voteBalance", "forgedFees", "forgedRewards", "producedBlocks", "resigned"),
  htlc: membersOf(at(wallet, "attributes.htlc"), "lockedBalance"),
});

const membersOf = (value: unknown, ...names: readonly string[]): Row | undefined =>
  value === undefined || value === null ? undefined : Object.fromEntries(names.map((name) => [name, (value as Row)[name]]));

/** Ranks are compared with those of delegates. */
const withoutRank = ({ attributes, ...wallet }: Row): Row => {
  const { delegate, ...others } = attributes as { delegate?: Row };
  const { rank: _, ...rest } = delegate ?? {};
  return { ...wallet, attributes: delegate === undefined ? others : { ...others, delegate: rest } };
};

/** The node counts neither voters nor the turns that delegates miss. */
const withoutTurns = ({ voters: _, blocks, production, ...delegate }: Row): Row => {
  const { missed: __, ...produced } = blocks as Row;
  const { productivity: ___, ...rest } = production as Row;
  return { ...delegate, blocks: produced, production: rest };
};

const nodeWallet = (wallet: Row): Row => ({
  address: wallet["address"],
  publicKey: wallet["publicKey"],
  balance: wallet["balance"],
  nonce: wallet["nonce"],
  username: at(wallet, "attributes.delegate.username"),
  secondPublicKey: at(wallet, "attributes.secondPublicKey"),
  isDelegate: at(wallet, "attributes.delegate") !== undefined,
  isResigned: at(wallet, "attributes.delegate.resigned") ?? false,
  vote: at(wallet, "attributes.vote"),
  lockedBalance: at(wallet, "attributes.htlc.lockedBalance") ?? "0",
  multiSignature: at(wallet, "attributes.multiSignature"),
  attributes: attributesIn(wallet),
});

/**
 * Version 1 had no nonces, but the node counts them anyway. Registrations in the genesis file name the delegate's public key, for
 * which the node's serialized form has no room.
 */
const commonTransaction = (transaction: Row): Row => {
  const asset = transaction["asset"] as { delegate?: { username: string } } | undefined;
  return {
    ...transaction,
    nonce: Number(transaction["version"]) === 1 ? undefined : transaction["nonce"],
    asset: asset?.delegate === undefined ? asset : { delegate: { username: asset.delegate.username } },
  };
};

/** The node's sum includes the payments of multipayments; the block's own does not. Genesis has no previous block. */
const withoutAmount = (block: Row): Row => {
  const { amount: _, ...forged } = block["forged"] as Row;
  return { ...block, forged, previous: block["previous"] === "0" ? null : block["previous"] };
};

interface Comparison {
  what: string;
  key: string;
  node(node: Served): Promise<Row[]>;
  portico(portico: Served): Promise<Row[]>;
}

const comparisons: Comparison[] = [
  {
    what: "wallets",
    key: "address",
    node: async (node) => (await node.rows("/wallets")).map(nodeWallet),
    portico: async (portico) => (await portico.rows("/wallets")).map(withoutRank),
  },
  {
    what: "delegates",
    key: "username",
    node: (node) => node.rows("/delegates"),
    portico: async (portico) => (await portico.rows("/delegates")).map(withoutTurns),
  },
  {
    what: "blocks",
    key: "height",
    node: async (node) => (await node.rows("/blocks?transform=true")).map(withoutAmount),
    portico: async (portico) => (await portico.rows("/blocks")).map(withoutAmount),
  },
  {
    what: "total amounts of blocks",
    key: "height",
    node: async (node) => (await node.rows("/blocks?transform=false")).map(({ height, totalAmount }) => ({ height, totalAmount })),
    portico: async (portico) => (await portico.rows("/blocks")).map(({ height, forged }) => ({ height, totalAmount: (forged as Row)["amount"] })),
  },
  {
    what: "transactions",
    key: "id",
    node: async (node) => (await node.rows("/transactions?transform=true")).map(commonTransaction),
    portico: async (portico) => (await portico.rows("/transactions")).map(commonTransaction),
  },
  {
    what: "locks",
    key: "lockId",
    node: (node) => node.rows("/locks"),
    portico: async (portico) => (await portico.rows("/locks")).map(({ senderId: _, ...lock }) => lock),
  },
];

/** A preset names only the kinds of exceptions that it has; Portico names all of them. */
const noExceptions = { blocks: [], transactions: [], outlookTable: {}, transactionIdFixTable: {}, wrongTransactionOrder: {} };

interface Reading {
  height: number;
  node: Record<string, unknown>;
  portico: Record<string, unknown>;
}

const read = async (height: number, node: Served, portico: Served): Promise<Reading> => {
  const reading: Reading = { height, node: {}, portico: {} };
  for (const { what, key, ...side } of comparisons) {
    reading.node[what] = by(await side.node(node), key);
    reading.portico[what] = by(await side.portico(portico), key);
  }
  // The last one is the round of the block after the tip.
  for (let round = 1; round <= Math.floor(height / activeDelegates) + 1; round++) {
    const path = `/rounds/${round}/delegates`;
    reading.node[path] = by((await node.data(path)) as Row[], "publicKey");
    reading.portico[path] = by(((await portico.data(path)) as Row[]).map(({ publicKey, votes }) => ({ publicKey, votes })), "publicKey");
  }
  for (const path of ["/node/syncing", "/blockchain"]) {
    reading.node[path] = plain(await node.data(path));
    // The node has no digest of its state.
    const { digest: _, ...known } = plain(await portico.data(path)) as Row;
    reading.portico[path] = known;
  }
  const { exceptions, ...crypto } = (await node.data("/node/configuration/crypto")) as Row;
  reading.node["/node/configuration/crypto"] = { ...crypto, exceptions: { ...noExceptions, ...(exceptions as Row) } };
  reading.portico["/node/configuration/crypto"] = await portico.data("/node/configuration/crypto");
  return reading;
};

/** The heights of the node's state, of its database, and of Portico. */
const heightsOf = async (node: Served, portico: Served): Promise<number[]> => {
  const [{ height }, [saved], { block }] = (await Promise.all([
    node.data("/node/syncing"),
    node.data("/blocks?limit=1&orderBy=height:desc"),
    portico.data("/blockchain"),
  ])) as [{ height: number }, { height: number }[], { block: { height: number } }];
  return [height, saved?.height ?? 0, block.height].map(Number);
};

/** Reads both while neither changes. */
const readAtRest = async (node: Served, portico: Served): Promise<Reading> => {
  let seen: number[] = [];
  for (let tries = 0; tries < 200; tries++) {
    seen = await heightsOf(node, portico);
    const [height = 0, ...others] = seen;
    if (others.some((other) => other !== height)) {
      await delay(50);
      continue;
    }
    const reading = await read(height, node, portico);
    if (isDeepStrictEqual(await heightsOf(node, portico), seen)) return reading;
  }
  throw new Error(`the node (${seen[0]}), its database (${seen[1]}) and Portico (${seen[2]}) do not come to one height`);
};

/** What the node itself does not know for certain. */
interface Unsure {
  /**
   * False for a node that was restarted and has not ended a round since: at start it ranks delegates by their votes at the
   * tip, whereas it had ranked them at the end of the round.
   */
  ranks?: boolean;
  /** False for a node that has removed blocks: it no longer knows the last block of those who forged them. */
  lastBlocks?: boolean;
}

const less = (delegates: unknown, { ranks = true, lastBlocks = true }: Unsure): Row => {
  const known = ({ rank, blocks, ...delegate }: Row): Row => ({
    ...delegate,
    ...(ranks ? { rank } : {}),
    blocks: lastBlocks ? blocks : { produced: at(blocks, "produced") },
  });
  return Object.fromEntries(Object.entries(delegates as Record<string, Row>).map(([name, delegate]) => [name, known(delegate)]));
};

/**
 * @returns the height of the comparison
 * @throws Error that shows the first rows that differ
 */
export const compareWithNode = async (node: Served, portico: Served, unsure: Unsure = {}): Promise<number> => {
  const { height, node: expected, portico: told } = await readAtRest(node, portico);
  for (const side of [expected, told]) side["delegates"] = less(side["delegates"], unsure);
  const differing: string[] = [];
  for (const [what, rows] of Object.entries(expected)) {
    const [its, mine] = [rows as Row, told[what] as Row];
    for (const name of new Set([...Object.keys(its), ...Object.keys(mine)])) {
      if (isDeepStrictEqual(its[name], mine[name])) continue;
      differing.push(`${what}, ${name}\n  node    ${JSON.stringify(its[name])}\n  Portico ${JSON.stringify(mine[name])}`);
    }
  }
  if (differing.length > 0) throw new Error(`${differing.length} differences at height ${height}:\n${differing.slice(0, 8).join("\n")}`);
  return height;
};

/** Portico shows when a pooled transaction expires, as `/openapi.json` says; the node's interface omits it. */
const withoutExpiration = ({ expiration: _, ...transaction }: Row): Row => transaction;

const differingMembers = (its: Row, mine: Row): string[] =>
  [...new Set([...Object.keys(its), ...Object.keys(mine)])]
    .filter((name) => !isDeepStrictEqual(its[name], mine[name]))
    .map((name) => `${String(its["id"])}, ${name}: node ${JSON.stringify(its[name])}, Portico ${JSON.stringify(mine[name])}`);

/**
 * Compares both pools in order, and each transaction with the answer of its own route.
 *
 * @returns the ids
 * @throws Error that shows the members that differ
 */
export const comparePools = async (node: Served, portico: Served): Promise<string[]> => {
  const path = "/transactions/unconfirmed";
  const [its, mine] = await Promise.all([node.rows(path), portico.rows(path)]);
  const idsOf = (rows: Row[]): string[] => rows.map(({ id }) => String(id));
  const [expected, told] = [idsOf(its), idsOf(mine)];
  if (!isDeepStrictEqual(told, expected)) throw new Error(`pools differ:\n  node    ${expected.join(" ")}\n  Portico ${told.join(" ")}`);
  const differing = its.flatMap((row, index) => {
    const own = withoutExpiration(mine[index] ?? {});
    return differingMembers(plain(commonTransaction(row)) as Row, plain(commonTransaction(own)) as Row);
  });
  if (differing.length > 0) throw new Error(`${differing.length} members of pooled transactions differ:\n${differing.slice(0, 24).join("\n")}`);
  for (const row of mine) {
    const alone = (await portico.data(`${path}/${String(row["id"])}`)) as Row;
    if (!isDeepStrictEqual(alone, row)) throw new Error(`${path}/${String(row["id"])} differs from its row`);
  }
  return told;
};
