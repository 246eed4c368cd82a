import { createHash } from "node:crypto";
import { toBase58 } from "../../../src/chain/base58.js";
import type { Lock } from "../../../types/chain.js";
import type { Actor, Cast, Group } from "../chain/cast.js";
import type { Order } from "../chain/crypto.js";
import { token } from "../chain/genesis.js";
import type { Ledger } from "../chain/ledger-state.js";
import type { Random } from "./random.js";

/** What transactions are made from. */
export interface Scene {
  readonly random: Random;
  readonly cast: Cast;
  readonly ledger: Ledger;
  /** Number of persons that have a wallet: those from 0 up to this, exclusive. */
  readonly people: number;
  /** Height of the block that is being made. */
  readonly height: number;
  /** The secret of a lock, which can be derived again from the lock's sender and nonce. */
  secretOf(publicKey: string, nonce: bigint): string;
}

/** A transaction that someone wants, before fee, nonce and signatures are added. */
export interface Wish {
  sender: Actor | Group;
  order: Omit<Order, "fee" | "nonce">;
  /** The kind's key in the milestones' static fees. */
  key: string;
  /** The group founded by a multisignature registration: every member signs, and each adds to the fee. */
  founds?: Group;
}

/** One kind of thing that people do. */
interface Kind {
  /** Relative frequency. */
  weight: number;
  /** Undefined if nobody can do this now. */
  wish(scene: Scene): Promise<Wish | undefined> | Wish | undefined;
}

const notes = ["coffee", "rent", "thank you", "invoice", "lunch ☕", "book club", "train ticket", "für die Torte", "donation", "games night"];

/** A random amount between two numbers of whole tokens, with decimals: never zero, which nobody may send. */
const amountBetween = ({ random }: Scene, from: number, to: number): bigint =>
  BigInt(random.between(from, to - 1)) * token + (random.chance(0.5) ? BigInt(random.between(1, 99_999_999)) : BigInt(random.between(1, 99)) * 1_000_000n);

const someone = ({ random, cast, people }: Scene): Actor => cast.person(random.between(0, people - 1));

/** A random person with at least this many tokens; undefined if none is found in a few tries. */
const payer = async (scene: Scene, tokens: number): Promise<Actor | undefined> => {
  for (let tries = 0; tries < 6; tries++) {
    const actor = someone(scene);
    if ((await scene.ledger.wallet(actor.address)).balance >= BigInt(tokens) * token) return actor;
  }
  return undefined;
};

/** An address of nobody in the cast: its wallet stays cold. */
const stranger = ({ random, ledger: { crypto } }: Scene): string => crypto.addressOf(crypto.keysOf(random.hex(16)).publicKey);

const note = ({ random, height }: Scene): { vendorField?: string } => {
  if (random.chance(0.55)) return {};
  const text = random.pick(notes);
  return { vendorField: random.chance(0.3) ? `${text} ${height}/${random.between(1, 999)}` : text };
};

const transfer = async (scene: Scene): Promise<Wish | undefined> => {
  const sender = await payer(scene, 120);
  if (sender === undefined) return undefined;
  const recipientId = scene.random.chance(0.06) ? stranger(scene) : someone(scene).address;
  return { sender, key: "transfer", order: { type: 0, amount: amountBetween(scene, 0, 100), recipientId, ...note(scene) } };
};

/** The next person gets a wallet: quickly at first, then about a hundred a day. */
const newcomer = (scene: Scene): Wish | undefined => {
  const { random, people, cast } = scene;
  if (people >= 60 && !random.chance(0.08)) return undefined;
  const order = { type: 0, amount: amountBetween(scene, 2_000, 30_000), recipientId: cast.person(people).address, vendorField: "welcome" };
  return { sender: cast.treasury, key: "transfer", order };
};

/** A delegate shares its rewards, or a person pays several at once. A recipient named twice is paid twice. */
const multiPayment = async (scene: Scene): Promise<Wish | undefined> => {
  const { random, cast } = scene;
  const sender = random.chance(0.6) ? cast.delegate(random.between(1, 51)) : await payer(scene, 60);
  if (sender === undefined) return undefined;
  const recipients = Array.from({ length: random.between(2, 8) }, () => someone(scene).address);
  if (random.chance(0.4)) recipients.push(random.pick(recipients));
  if (random.chance(0.15)) recipients.push(sender.address);
  const payments = recipients.map((recipientId) => ({ amount: String(amountBetween(scene, 0, 4)), recipientId }));
  return { sender, key: "multiPayment", order: { type: 6, asset: { payments }, ...note(scene) } };
};

const chooseDelegate = async (scene: Scene): Promise<string> => {
  const { random, cast, ledger } = scene;
  const candidate = someone(scene);
  const { username, resigned } = await ledger.wallet(candidate.address);
  return (username !== null && !resigned ? candidate : cast.delegate(random.between(1, 51))).keys.publicKey;
};

const vote = async (scene: Scene): Promise<Wish | undefined> => {
  const sender = await payer(scene, 5);
  if (sender === undefined) return undefined;
  const { vote: present } = await scene.ledger.wallet(sender.address);
  const chosen = await chooseDelegate(scene);
  if (present === chosen) return undefined;
  const switched = present === null ? [`+${chosen}`] : [`-${present}`, `+${chosen}`];
  const votes = present !== null && scene.random.chance(0.35) ? [`-${present}`] : switched;
  return { sender, key: "vote", order: { type: 3, asset: { votes } } };
};

/** Every third person registers a second signature at some time. */
const secondSignature = async (scene: Scene): Promise<Wish | undefined> => {
  const number = 3 * scene.random.between(0, Math.floor((scene.people - 2) / 3)) + 1;
  const sender = scene.cast.person(number);
  const wallet = await scene.ledger.wallet(sender.address);
  if (wallet.secondPublicKey !== null || wallet.balance < 10n * token) return undefined;
  const { publicKey } = scene.cast.secondKeys(sender);
  return { sender, key: "secondSignature", order: { type: 1, asset: { signature: { publicKey } } } };
};

/** Every second person registers as a delegate at some time. */
const delegateRegistration = async (scene: Scene): Promise<Wish | undefined> => {
  const sender = scene.cast.person(2 * scene.random.between(0, Math.floor((scene.people - 1) / 2)));
  const wallet = await scene.ledger.wallet(sender.address);
  if (wallet.username !== null || wallet.balance < 50n * token) return undefined;
  return { sender, key: "delegateRegistration", order: { type: 2, asset: { delegate: { username: sender.username } } } };
};

/** Some delegates resign; those of genesis never do. */
const delegateResignation = async (scene: Scene): Promise<Wish | undefined> => {
  const sender = scene.cast.person(2 * scene.random.between(0, Math.floor((scene.people - 1) / 2)));
  const { username, resigned, balance } = await scene.ledger.wallet(sender.address);
  if (username === null || resigned || balance < 50n * token || !scene.random.chance(0.5)) return undefined;
  return { sender, key: "delegateResignation", order: { type: 7 } };
};

/** Number of groups whose members all have a wallet. */
const groupsOf = ({ people }: Scene): number => Math.floor(people / 3);

const multiSignature = async (scene: Scene): Promise<Wish | undefined> => {
  const group = scene.cast.group(scene.random.between(0, groupsOf(scene) - 1));
  if ((await scene.ledger.wallet(group.address)).multiSignature !== null) return undefined;
  const sender = scene.random.pick(group.members);
  if ((await scene.ledger.wallet(sender.address)).balance < 50n * token) return undefined;
  return { sender, key: "multiSignature", founds: group, order: { type: 4, asset: { multiSignature: group.asset } } };
};

/** A group spends what it has; while it has little, a member pays in. */
const spendTogether = async (scene: Scene): Promise<Wish | undefined> => {
  const group = scene.cast.group(scene.random.between(0, groupsOf(scene) - 1));
  const { multiSignature: registered, balance } = await scene.ledger.wallet(group.address);
  if (registered === null) return undefined;
  if (balance < 20n * token) {
    const sender = scene.random.pick(group.members);
    if ((await scene.ledger.wallet(sender.address)).balance < 200n * token) return undefined;
    return { sender, key: "transfer", order: { type: 0, amount: amountBetween(scene, 30, 150), recipientId: group.address } };
  }
  return { sender: group, key: "transfer", order: { type: 0, amount: amountBetween(scene, 0, 12), recipientId: someone(scene).address, ...note(scene) } };
};

/** A content address: base58 of a SHA-256 multihash. */
const ipfs = async (scene: Scene): Promise<Wish | undefined> => {
  const sender = await payer(scene, 20);
  if (sender === undefined) return undefined;
  const hash = toBase58(Buffer.from(`1220${scene.random.hex(32)}`, "hex"));
  return { sender, key: "ipfs", order: { type: 5, asset: { ipfs: hash } } };
};

const sha256 = (hex: string): string => createHash("sha256").update(Buffer.from(hex, "hex")).digest("hex");

const htlcLock = async (scene: Scene): Promise<Wish | undefined> => {
  const { random, ledger, height } = scene;
  const sender = await payer(scene, 80);
  if (sender === undefined) return undefined;
  const { nonce } = await ledger.wallet(sender.address);
  const { blocktime } = ledger.crypto.constantsAt(height);
  const blocks = random.between(6, 40);
  const expiration = random.chance(0.7)
    ? { type: 2, value: height + blocks }
    : { type: 1, value: ledger.chain.tip.timestamp + blocks * blocktime };
  const secretHash = sha256(scene.secretOf(sender.keys.publicKey, nonce + 1n));
  const asset = { lock: { secretHash, expiration } };
  return { sender, key: "htlcLock", order: { type: 8, amount: amountBetween(scene, 0, 60), recipientId: someone(scene).address, asset, ...note(scene) } };
};

/** One of the oldest open locks that have lapsed (or have not); undefined if there is none, or if the one drawn is already closed in this block. */
const drawLock = async ({ random, ledger }: Scene, lapsed: boolean): Promise<Lock | undefined> => {
  const { tip } = ledger.chain;
  const page = await ledger.chain.locks({ filter: {}, order: { field: "timestamp", direction: "asc" }, offset: 0, limit: 100 });
  const fitting = page.rows.filter(({ expiration }) => expiration.value <= (expiration.type === 1 ? tip.timestamp : tip.height) === lapsed);
  if (fitting.length === 0) return undefined;
  const lock = random.pick(fitting);
  return (await ledger.lock(lock.lockId)) === undefined ? undefined : lock;
};

/** The amount goes to the lock's recipient or sender, whoever sends the claim or refund, so now and then someone else sends it. */
const htlcClaim = async (scene: Scene): Promise<Wish | undefined> => {
  const lock = await drawLock(scene, false);
  if (lock === undefined) return undefined;
  const { nonce } = (await scene.ledger.chain.transaction(lock.lockId)) ?? {};
  const unlockSecret = nonce === undefined ? "" : scene.secretOf(lock.senderPublicKey, nonce);
  if (sha256(unlockSecret) !== lock.secretHash) return undefined;
  return { sender: personWith(lock.recipientId, scene), key: "htlcClaim", order: { type: 9, asset: { claim: { lockTransactionId: lock.lockId, unlockSecret } } } };
};

const htlcRefund = async (scene: Scene): Promise<Wish | undefined> => {
  const lock = await drawLock(scene, true);
  if (lock === undefined) return undefined;
  return { sender: personWith(lock.senderId, scene), key: "htlcRefund", order: { type: 10, asset: { refund: { lockTransactionId: lock.lockId } } } };
};

/** The person with an address, if it is one of the first 500; otherwise, and now and then in any case, a random person. */
const personWith = (address: string, scene: Scene): Actor => {
  const number = scene.random.chance(0.2) ? -1 : Array.from({ length: Math.min(scene.people, 500) }).findIndex((_, index) => scene.cast.person(index).address === address);
  return number < 0 ? someone(scene) : scene.cast.person(number);
};

export const kinds: readonly Kind[] = [
  { weight: 300, wish: transfer },
  { weight: 30, wish: newcomer },
  { weight: 70, wish: multiPayment },
  { weight: 110, wish: vote },
  { weight: 20, wish: secondSignature },
  { weight: 25, wish: delegateRegistration },
  { weight: 8, wish: delegateResignation },
  { weight: 20, wish: multiSignature },
  { weight: 70, wish: spendTogether },
  { weight: 40, wish: ipfs },
  { weight: 80, wish: htlcLock },
  { weight: 70, wish: htlcClaim },
  { weight: 50, wish: htlcRefund },
];
