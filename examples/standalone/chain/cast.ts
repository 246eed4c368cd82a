import type { ChainCrypto, Keys, MultiSignatureAsset } from "./crypto.js";

/**
 * Everyone who acts on the network `local`. All keys are derived from the seed and a number, so that they are the same after a restart;
 * whoever has a wallet in the chain has joined.
 */
export interface Cast {
  /** Delegate `number` (from 1) of genesis. */
  delegate(number: number): Actor;
  /** Initially owns nearly everything that the delegates do not. */
  readonly treasury: Actor;
  /** Person `number`, from 0. They join one after another, without limit. */
  person(number: number): Actor;
  /** The second key of an actor, whether or not it is registered. */
  secondKeys(actor: Actor): Keys;
  /** Multisignature wallet `number`, from 0, of the three persons from 3 × `number` on. */
  group(number: number): Group;
  /** The actor with a delegate's username, found by the number in it. */
  ofUsername(username: string): Actor | undefined;
}

export interface Actor {
  readonly passphrase: string;
  readonly keys: Keys;
  readonly address: string;
  /** The username that it registers if it becomes a delegate. */
  readonly username: string;
}

export interface Group {
  readonly asset: MultiSignatureAsset;
  readonly members: Actor[];
  readonly publicKey: string;
  readonly address: string;
}

const groupSize = 3;

const names = ["ada", "ben", "cleo", "dan", "eva", "finn", "gus", "hana", "ivo", "juno", "kai", "lena", "milo", "nora", "otto", "pia"];

/** Number of persons in genesis, the first to have a wallet. */
export const founders = 24;

export const createCast = (seed: string, crypto: ChainCrypto): Cast => {
  const actors = new Map<string, Actor>();
  const actor = (passphrase: string, username: string): Actor => {
    let known = actors.get(passphrase);
    if (known === undefined) {
      const keys = crypto.keysOf(passphrase);
      known = { passphrase, keys, address: crypto.addressOf(keys.publicKey), username };
      actors.set(passphrase, known);
    }
    return known;
  };
  const delegate = (number: number): Actor => actor(`${seed} delegate ${number}`, `genesis_${number}`);
  const person = (number: number): Actor => actor(`${seed} person ${number}`, `${names[number % names.length] ?? "kim"}_${number}`);

  const group = (number: number): Group => {
    const members = Array.from({ length: groupSize }, (_, step) => person(number * groupSize + step));
    const asset = { min: 2 + (number % 2), publicKeys: members.map(({ keys }) => keys.publicKey) };
    const publicKey = crypto.multiSignatureKey(asset);
    return { asset, members, publicKey, address: crypto.addressOf(publicKey) };
  };

  const ofUsername = (username: string): Actor | undefined => {
    const number = Number(username.slice(username.lastIndexOf("_") + 1));
    if (!Number.isSafeInteger(number) || number < 0) return undefined;
    const found = username.startsWith("genesis_") ? delegate(number) : person(number);
    return found.username === username ? found : undefined;
  };

  return {
    delegate,
    person,
    group,
    ofUsername,
    treasury: actor(`${seed} treasury`, "treasury"),
    secondKeys: ({ passphrase }) => crypto.keysOf(`${passphrase} second`),
  };
};
