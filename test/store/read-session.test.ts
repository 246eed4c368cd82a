import { setImmediate as nextTurn, setTimeout as timer } from "node:timers/promises";
import { expect } from "chai";
import { type Environment, openEnvironment } from "../../src/store/lmdb/environment.js";
import { createReadSession, openTransaction, type ReadSession } from "../../src/store/lmdb/read-session.js";
import { transact } from "../../src/store/lmdb/safe/transact.js";
import { randomFrom } from "../follow/schedule.js";
import { closeTemporaryStores, temporaryFolder } from "./temporary-store.js";

const keyOf = (number: number): Buffer => Buffer.from([number]);

type State = ReadonlyMap<number, string>;

describe("the first key of a range", () => {
  let environment: Environment;
  let state: State;
  beforeEach(() => {
    environment = openEnvironment(temporaryFolder(), "ab", { disposable: true });
    state = new Map();
  });
  afterEach(async () => {
    await environment.close();
    await closeTemporaryStores();
  });

  const write = (changes: readonly [number: number, value: string | null][]): void => {
    const next = new Map(state);
    transact(environment, () => {
      for (const [number, value] of changes) {
        if (value === null) environment.db.history.removeSync(keyOf(number));
        else environment.db.history.putSync(keyOf(number), Buffer.from(value));
        if (value === null) next.delete(number);
        else next.set(number, value);
      }
    });
    state = next;
  };

  const firstIn = (reading: ReadSession, from: number, to: number): string | undefined =>
    (reading.first("history", { start: keyOf(from), end: keyOf(to) }) as Buffer | undefined)?.toString();

  const expectedIn = (of: State, from: number, to: number): string | undefined => of.get([...of.keys()].filter((number) => number >= from && number < to).sort((a, b) => a - b)[0] ?? -1);

  it("is that of the state asked, whatever was written since, in whichever turn, and whichever states were left meanwhile", async () => {
    const fraction = randomFrom(29);
    const random = (below: number): number => Math.floor(fraction() * below);
    const held: { of: State; reading: ReadSession; done(): void }[] = [];
    let sought = 0;
    for (let step = 0; step < 300; step++) {
      if (random(3) === 0) write(Array.from({ length: 1 + random(5) }, () => [random(40), random(3) === 0 ? null : `${step}`]));
      if (held.length === 0 || random(3) === 0) {
        const transaction = openTransaction(environment);
        held.push({ of: state, reading: createReadSession(environment, transaction), done: () => transaction.done() });
      }
      // Where nothing reads in it any more, lmdb-js takes its transaction back, with the timers of a turn.
      if (random(2) === 0) await (random(2) === 0 ? nextTurn() : timer(0));
      for (const { of, reading } of held) {
        const [from, to] = [random(40), random(41)];
        expect(firstIn(reading, from, to)).to.equal(expectedIn(of, from, to));
        sought++;
      }
      if (held.length > 4) held.splice(random(held.length), 1)[0]?.done();
    }
    for (const { done } of held) done();
    expect(sought).to.be.greaterThan(900);
  });

  it("is found while a range of the same database is gone through, in the same state and in an older one", () => {
    write([[1, "one"], [2, "two"], [3, "three"]]);
    const before = openTransaction(environment);
    const older = createReadSession(environment, before);
    write([[2, "another"]]);
    const transaction = openTransaction(environment);
    const newer = createReadSession(environment, transaction);
    const seen: unknown[] = [];
    for (const { value } of newer.range("history", {})) {
      seen.push([String(value), firstIn(newer, 2, 9), firstIn(older, 2, 9), firstIn(newer, 4, 9)]);
    }
    expect(seen).to.deep.equal(["one", "another", "three"].map((value) => [value, "another", "two", undefined]));
    before.done();
    transaction.done();
  });
});
