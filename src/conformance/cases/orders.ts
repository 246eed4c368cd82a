import type { ChainSnapshot } from "../../../types/chain-adapter.js";
import type { DelegateOrder, Order, WalletOrder } from "../../../types/chain-queries.js";
import { same } from "../comparing.js";
import { delegateSpec, walletSpec } from "../lists.js";
import { actors } from "../chain/actors.js";
import { type Fixture, readingOf } from "../target.js";
import { walk } from "../walk.js";
import type { CaseDefinition } from "./case.js";

const nameOf = new Map<string, string>(Object.values(actors).map(({ name, address }) => [address, name]));

const walletNames = async (snapshot: ChainSnapshot, order: Order<WalletOrder>): Promise<string> =>
  (await walk(snapshot, walletSpec, { filter: {}, order })).map(({ address }) => nameOf.get(address) ?? address).join(" ");

const delegateNames = async (snapshot: ChainSnapshot, order: Order<DelegateOrder>): Promise<string> =>
  (await walk(snapshot, delegateSpec, { filter: {}, order })).map(({ username }) => username).join(" ");

/**
 * Expected orders written out, so that the list cases do not rely on `sorted` alone: ties, negative values, rows without a value, and
 * usernames of which "hal1" (kim's) comes before "hal_2" by code units, and after it in the order of most languages.
 */
const walletOrders: [WalletOrder, "asc" | "desc", string][] = [
  ["balance", "desc", "joe kim ivy ada bob cyd dan eve fay mia ned council hal gus pia rae sam quin pair origin"],
  ["balance", "asc", "origin pair quin sam rae pia gus hal council ned mia fay eve dan cyd bob ada ivy kim joe"],
  ["username", "asc", "ada bob cyd dan eve fay gus kim hal quin pia origin council rae joe mia sam pair ned ivy"],
  ["username", "desc", "hal kim gus fay eve dan cyd bob ada quin pia origin council rae joe mia sam pair ned ivy"],
  ["publicKey", "asc", "hal gus council kim ivy fay ada pia pair cyd eve dan origin joe bob quin rae mia sam ned"],
  ["publicKey", "desc", "bob joe origin dan eve cyd pair pia ada fay ivy kim council gus hal quin rae mia sam ned"],
  ["voteBalance", "desc", "dan ada hal cyd eve gus quin bob kim fay pia origin council rae joe mia sam pair ned ivy"],
  ["nonce", "desc", "joe ivy bob kim origin dan eve ada fay council cyd hal pia gus quin rae mia sam pair ned"],
];

/** As above, after fay's vote balance has become negative. */
const negativeOrders: ["asc" | "desc", string][] = [
  ["desc", "dan ada hal cyd eve gus quin bob kim pia origin council rae joe mia sam pair ned ivy fay"],
  ["asc", "fay ivy ned pair sam mia joe rae council origin pia kim bob quin gus eve cyd hal ada dan"],
];

const delegateOrders: [DelegateOrder, "asc" | "desc", string][] = [
  ["username", "asc", "ada bob cyd dan eve fay gus.1 hal1 hal_2"],
  ["rank", "asc", "dan ada hal_2 cyd gus.1 bob eve fay hal1"],
  ["rank", "desc", "bob gus.1 cyd hal_2 ada dan eve fay hal1"],
  ["voteBalance", "desc", "dan ada hal_2 cyd eve gus.1 bob fay hal1"],
  ["voteBalance", "asc", "hal1 fay bob gus.1 eve cyd hal_2 ada dan"],
  ["approval", "desc", "dan ada hal_2 cyd eve bob fay gus.1 hal1"],
  ["producedBlocks", "desc", "bob dan ada cyd eve hal_2 fay gus.1 hal1"],
  ["forgedTotal", "asc", "hal1 gus.1 fay hal_2 bob cyd dan eve ada"],
];

export const orderCases: CaseDefinition[] = [
  ...walletOrders.map(([field, direction, expected]) => ({
    name: `wallets: by ${field}, ${direction}, written out`,
    run: async (fixture: Fixture) =>
      fixture.reading(async (snapshot) =>
        same(await walletNames(snapshot, { field, direction }), expected, `wallets by ${field}:${direction}`),
      ),
  })),
  ...negativeOrders.map(([direction, expected]) => ({
    name: `wallets: by voteBalance, ${direction}, a negative one is below the zeros`,
    run: async ({ chain: { blocks, debtorVotes }, open }: Fixture) =>
      readingOf(await open([...blocks, debtorVotes]), async (snapshot) =>
        same(await walletNames(snapshot, { field: "voteBalance", direction }), expected, `wallets by voteBalance:${direction}, after block ${debtorVotes.height}`),
      ),
  })),
  ...delegateOrders.map(([field, direction, expected]) => ({
    name: `delegates: by ${field}, ${direction}, written out`,
    run: async (fixture: Fixture) =>
      fixture.reading(async (snapshot) =>
        same(await delegateNames(snapshot, { field, direction }), expected, `delegates by ${field}:${direction}`),
      ),
  })),
];
