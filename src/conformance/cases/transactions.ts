import type { ChainSnapshot } from "../../../types/chain-adapter.js";
import type { TransactionFilter } from "../../../types/chain-queries.js";
import type { BlockData } from "../../../types/events.js";
import { rowOf, same } from "../comparing.js";
import { literalTransactions, type Place } from "../figures/transactions.js";
import { transactionSpec, walk } from "../lists.js";
import { actors } from "../chain/actors.js";
import type { CaseDefinition, Fixture } from "../target.js";

const { council, ivy, joe, pia, quin } = actors;

const at = (blocks: readonly BlockData[], [height, sequence]: Place) => {
  const block = blocks[height - 1];
  const transaction = block?.transactions?.[sequence];
  if (block === undefined || transaction === undefined)
    throw new Error(`the suite's chain has no transaction ${height}/${sequence}`);
  return { block, transaction };
};

const literalCase: CaseDefinition = {
  name: "transactions: both wire versions, as the interface shows them",
  run: async (fixture) =>
    fixture.reading(async (snapshot) => {
      for (const [place, { sender, signed, ...rest }] of literalTransactions) {
        const { block, transaction } = at(fixture.chain.blocks, place);
        const signatures = {
          signature: transaction.signature,
          secondSignature: transaction.secondSignature ?? transaction.signSignature,
          signatures: transaction.signatures,
        };
        const expected = {
          ...rest,
          id: transaction.id,
          senderPublicKey: sender.publicKey,
          senderId: sender.address,
          blockId: block.id,
          blockHeight: place[0],
          sequence: place[1],
          ...Object.fromEntries(signed.map((name) => [name, signatures[name]])),
        };
        same(
          rowOf("transaction", await snapshot.transaction(transaction.id)),
          rowOf("transaction", expected),
          `transaction ${place.join("/")}`,
        );
      }
    }),
};

const found: [string, TransactionFilter, Place[]][] = [
  [
    "what pia received, payments and locks included, each once",
    { recipientId: pia.address },
    [
      [20, 0],
      [16, 0],
      [14, 1],
      [13, 0],
      [11, 1],
      [11, 0],
      [5, 1],
      [4, 1],
    ],
  ],
  [
    "what joe received, its own votes included",
    { recipientId: joe.address },
    [
      [26, 2],
      [26, 1],
      [26, 0],
      [21, 0],
      [14, 0],
      [10, 0],
      [4, 1],
      [4, 0],
      [1, 7],
    ],
  ],
  [
    "all of a multisignature wallet's",
    { ownerId: council.address },
    [
      [22, 0],
      [16, 0],
      [15, 1],
      [13, 0],
      [12, 2],
    ],
  ],
  [
    "all of two addresses",
    { addresses: [quin.address, council.address] },
    [
      [22, 0],
      [16, 0],
      [15, 1],
      [14, 3],
      [13, 0],
      [12, 2],
    ],
  ],
  [
    "what a multisignature wallet sent",
    { senderPublicKey: council.publicKey },
    [
      [22, 0],
      [15, 1],
      [13, 0],
    ],
  ],
  [
    "type 6 of every group and version",
    { type: 6 },
    [
      [22, 0],
      [17, 2],
      [16, 0],
      [5, 1],
    ],
  ],
  [
    "type 6 of the core group",
    { type: 6, typeGroup: 1 },
    [
      [22, 0],
      [16, 0],
      [5, 1],
    ],
  ],
  ["an exact amount that no double holds", { amount: { from: 9_007_199_254_740_993n, to: 9_007_199_254_740_993n } }, [[2, 0]]],
  ["an exact fee", { fee: { from: 10_000_001n, to: 10_000_001n } }, [[2, 3]]],
  [
    "an exact vendor field",
    { vendorField: "rent" },
    [
      [26, 2],
      [11, 1],
      [2, 1],
      [2, 0],
    ],
  ],
  ["part of a vendor field, by its UTF-8 bytes", { vendorFieldHex: "c3bcc39f65" }, [[11, 0]]],
  [
    "a sender and a recipient at once",
    { senderId: ivy.address, recipientId: ivy.address },
    [
      [16, 0],
      [7, 1],
      [4, 1],
      [1, 20],
    ],
  ],
  ["nobody's", { senderId: quin.address }, []],
];

const expectPlaces = async (
  snapshot: ChainSnapshot,
  blocks: readonly BlockData[],
  [what, filter, places]: (typeof found)[number],
): Promise<void> => {
  const rows = await walk(snapshot, transactionSpec, { filter, order: { field: "timestamp", direction: "desc" } });
  same(
    rows.map(({ blockHeight, sequence }) => [blockHeight, sequence]),
    places,
    what,
  );
  same(
    rows.map(({ id }) => id),
    places.map((place) => at(blocks, place).transaction.id),
    what,
  );
};

export const transactionCases: CaseDefinition[] = [
  literalCase,
  ...found.map((expected) => ({
    name: `transactions: ${expected[0]}`,
    run: async (fixture: Fixture) => fixture.reading((snapshot) => expectPlaces(snapshot, fixture.chain.blocks, expected)),
  })),
];
