import { rankingCodec, walletCodec } from "../../src/store/layout/codec.js";
import type { Environment } from "../../src/store/lmdb/environment.js";
import { rankingKey } from "../../src/store/records/records.js";

/** Changes of a store's state by somebody who knows its layout: every record can be read as before. */

const walletsOf = ({ db }: Environment) => [...db.wallets.getRange({})].map(({ key, value }) => ({ key, wallet: walletCodec.unpack(value as unknown[]) }));

export const byHand = {
  balance: (environment: Environment): void => {
    const [first] = walletsOf(environment).filter(({ wallet }) => wallet.balance > 0n);
    if (first === undefined) throw new Error("there is no wallet with a balance");
    environment.db.wallets.putSync(first.key, walletCodec.pack({ ...first.wallet, balance: first.wallet.balance + 1n }));
  },
  vote: (environment: Environment): void => {
    const voters = walletsOf(environment).filter(({ wallet }) => wallet.vote !== null);
    const [one, other] = [voters[0], voters.find(({ wallet }) => wallet.vote !== voters[0]?.wallet.vote)];
    if (one === undefined || other === undefined) throw new Error("there are no two votes");
    environment.db.wallets.putSync(one.key, walletCodec.pack({ ...one.wallet, vote: other.wallet.vote }));
  },
  rank: ({ db }: Environment): void => {
    const [first, second, ...others] = rankingCodec.unpack(db.meta.get(rankingKey) as unknown[]);
    if (first === undefined || second === undefined) throw new Error("there are no two delegates");
    db.meta.putSync(rankingKey, rankingCodec.pack([second, first, ...others]));
  },
};
