import type { ChainSnapshot, MaybePromise } from "../../../types/chain-adapter.js";
import { rowOf, same } from "../comparing.js";
import { labelled } from "../chain/drafts.js";
import { delegateSpec, walletSpec } from "../lists.js";
import { actors } from "../chain/actors.js";
import { everyRow } from "../walk.js";
import type { CaseDefinition } from "./case.js";

const { ada, gus, joe, kim, mia, pair } = actors;

const expectOne = async <Row extends object, Key extends keyof Row>(
  what: string,
  answers: readonly MaybePromise<Row | undefined>[],
  key: Key,
  expected: Row[Key],
): Promise<void> => {
  for (const answer of answers) same((await answer)?.[key], expected, what);
};

const expectNone = async (what: string, answer: unknown): Promise<void> => same(await answer, undefined, `${what} is not found`);

const walletCase: CaseDefinition = {
  name: "look-ups: a wallet by address, public key and username",
  run: async (fixture) =>
    fixture.reading(async (snapshot) => {
      for (const wallet of await everyRow(snapshot, walletSpec)) {
        for (const name of [wallet.address, wallet.publicKey, wallet.username]) {
          if (name !== null) same(rowOf("wallet", await snapshot.wallet(name)), rowOf("wallet", wallet), `wallet ${name}`);
        }
      }
      const answers = [snapshot.wallet(pair.publicKey), snapshot.wallet(pair.address)];
      await expectOne("a multisignature wallet that never sent", answers, "address", pair.address);
    }),
};

const delegateCase: CaseDefinition = {
  name: "look-ups: a delegate by username, address and public key",
  run: async (fixture) =>
    fixture.reading(async (snapshot) => {
      for (const delegate of await everyRow(snapshot, delegateSpec)) {
        for (const name of [delegate.username, delegate.address, delegate.publicKey]) {
          same(rowOf("delegate", await snapshot.delegate(name)), rowOf("delegate", delegate), `delegate ${name}`);
        }
        for (const member of ["voteBalance", "rank", "balance"] as const) {
          same((await snapshot.delegate(delegate.username, [member]))?.[member], delegate[member], `${member} of the delegate ${delegate.username}, asked for alone`);
        }
      }
      const answers = ["gus.1", gus.address, gus.publicKey].map((name) => snapshot.delegate(name));
      await expectOne("gus by any of its names", answers, "username", "gus.1");
    }),
};

const blockCase: CaseDefinition = {
  name: "look-ups: a block by height and id",
  run: async (fixture) =>
    fixture.reading(async (snapshot) => {
      for (const { id, height } of fixture.chain.blocks) {
        await expectOne(`block ${height}`, [snapshot.block({ height }), snapshot.block({ id })], "id", id);
      }
    }),
};

/** Names that no row has: some look almost right, others are too short or too long for the keys of many stores. */
const unknownNames = [
  "nobody",
  "gus",
  "ADA",
  "AUexKjGtgsSpVzPLs6jNMM6vJ6znEVTQWK",
  `02${"0".repeat(63)}1`,
  "__proto__",
  "constructor",
  "",
  "\u0000",
  "ada\u0000",
  "\ud800",
  "x".repeat(5_000),
];

const expectNothing = async (snapshot: ChainSnapshot): Promise<void> => {
  for (const name of [...unknownNames, ada.address.toLowerCase()]) {
    await expectNone(`wallet "${name}"`, snapshot.wallet(name));
    await expectNone(`delegate "${name}"`, snapshot.delegate(name));
  }
  for (const { name, address, publicKey } of [joe, mia]) {
    for (const other of [name, address, publicKey])
      await expectNone(`delegate "${other}", whose wallet is no delegate`, snapshot.delegate(other));
  }
  for (const height of [0, -1, 1.5, 31, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER])
    await expectNone(`block ${height}`, snapshot.block({ height }));
  for (const id of [...unknownNames, "0", "1", "f".repeat(64), "99999999999999999999", ada.address]) {
    await expectNone(`block "${id}"`, snapshot.block({ id }));
    await expectNone(`transaction "${id}"`, snapshot.transaction(id));
  }
};

const nothingCase: CaseDefinition = {
  name: "look-ups: what is not there is not found",
  run: async (fixture) => fixture.reading(expectNothing),
};

const lockCase: CaseDefinition = {
  name: "look-ups: an open lock by its id, an ended one not at all",
  run: async (fixture) => {
    await fixture.needs("locks");
    await fixture.reading(async (snapshot) => {
      await expectOne("the fourth lock", [snapshot.lock(labelled("fourth"))], "senderId", kim.address);
      for (const label of ["first", "second", "third", "fifth"])
        await expectNone(`the ${label} lock, which has ended`, snapshot.lock(labelled(label)));
      const [genesis] = fixture.chain.blocks;
      const transfer = genesis?.transactions?.[0];
      await expectNone("a transaction that is no lock", snapshot.lock(transfer?.id ?? ""));
      await expectNone("a lock of no transaction", snapshot.lock("f".repeat(64)));
    });
  },
};

export const lookUpCases: CaseDefinition[] = [walletCase, delegateCase, blockCase, lockCase, nothingCase];
