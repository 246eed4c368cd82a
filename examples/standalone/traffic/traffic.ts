import type { Cast, Group } from "../chain/cast.js";
import type { ChainCrypto, Signers, SignedTransaction } from "../chain/crypto.js";
import type { Ledger } from "../chain/ledger-state.js";
import { createRandom, type Random } from "./random.js";
import { kinds, type Scene, type Wish } from "./traffic-kinds.js";

/** Makes transactions for the network `local`; the same seed and the same state of the chain give the same ones to begin with. */
export interface Traffic {
  /**
   * Valid transactions for the next block, in order, already applied to the ledger. Asked again for the same block, it draws others, so
   * that transactions with which no block could be forged do not end the chain.
   */
  next(ledger: Ledger, limit: number): Promise<SignedTransaction[]>;
}

const isGroup = (sender: Wish["sender"]): sender is Group => "members" in sender;

/** The first number without a wallet, found by doubling, then bisecting. */
const countWallets = async (addressOf: (number: number) => string, ledger: Ledger, from: number): Promise<number> => {
  const exists = async (number: number): Promise<boolean> => (await ledger.chain.wallet(addressOf(number))) !== undefined;
  let low = from;
  let step = 1;
  while (await exists(low + step - 1)) {
    low += step;
    step *= 2;
  }
  let high = low + step - 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await exists(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
};

const signing = ({ members }: Group) => members.map(({ keys }, index) => ({ index, keys }));

/** Most blocks have a few transactions, some none, some many. */
const sizeOf = (random: Random): number => {
  if (random.chance(0.12)) return 0;
  return random.chance(0.06) ? random.between(8, 20) : random.between(1, 6);
};

export const createTraffic = (seed: string, cast: Cast, crypto: ChainCrypto, randomOf: (seed: string) => Random = createRandom): Traffic => {
  const total = kinds.reduce((sum, { weight }) => sum + weight, 0);
  let known = 0;
  /** The tip that was built on last, and how often before. */
  let drawn = { id: "", before: 0 };

  const pickKind = (random: Random) => {
    let drawn = random.between(1, total);
    return kinds.find(({ weight }) => (drawn -= weight) <= 0);
  };

  const feeOf = (key: string, random: Random, height: number): bigint => {
    const fee = BigInt(crypto.constantsAt(height).fees.staticFees[key] ?? 0);
    // Most wallets send the network's static fee; some pay more to be safe, some try less.
    return random.chance(0.75) ? fee : (fee * BigInt(random.between(60, 140))) / 100n;
  };

  const signersOf = async ({ sender, founds }: Wish, ledger: Ledger): Promise<Signers> => {
    if (isGroup(sender)) return { senderPublicKey: sender.publicKey, participants: signing(sender).slice(0, sender.asset.min) };
    const { secondPublicKey } = await ledger.wallet(sender.address);
    return {
      senderPublicKey: sender.keys.publicKey,
      keys: sender.keys,
      ...(secondPublicKey === null ? {} : { secondKeys: cast.secondKeys(sender) }),
      ...(founds === undefined ? {} : { participants: signing(founds) }),
    };
  };

  const make = async (wish: Wish, { ledger, random, height }: Scene): Promise<SignedTransaction> => {
    const signers = await signersOf(wish, ledger);
    const { nonce } = await ledger.walletOf(signers.senderPublicKey);
    const fee = feeOf(wish.key, random, height) * BigInt((wish.founds?.members.length ?? 0) + 1);
    return crypto.sign({ ...wish.order, fee, nonce: nonce + 1n }, signers, ledger.chain.tip.height);
  };

  const next: Traffic["next"] = async (ledger, limit) => {
    const { tip } = ledger.chain;
    // Only version 2 transactions are made, and those are valid once `aip11` holds at the tip.
    if (crypto.constantsAt(tip.height).aip11 !== true) return [];
    drawn = { id: tip.id, before: tip.id === drawn.id ? drawn.before + 1 : 0 };
    const random = randomOf(`${seed}/${tip.height}/${tip.id}${drawn.before === 0 ? "" : `/${drawn.before}`}`);
    known = await countWallets((number) => cast.person(number).address, ledger, known);
    const scene: Scene = {
      random,
      cast,
      ledger,
      people: known,
      height: tip.height + 1,
      secretOf: (publicKey, nonce) => createRandom(`${seed}/secret/${publicKey}/${nonce}`).hex(32),
    };
    const wanted = Math.min(sizeOf(random), limit);
    const made: SignedTransaction[] = [];
    for (let tries = 0; made.length < wanted && tries < 4 * wanted; tries++) {
      const wish = await pickKind(random)?.wish(scene);
      if (wish === undefined) continue;
      const transaction = await make(wish, scene);
      if ((await ledger.admit(transaction)) === undefined) made.push(transaction);
    }
    return made;
  };

  return { next };
};
