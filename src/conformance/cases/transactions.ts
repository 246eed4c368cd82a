import type { Transaction } from "../../../types/chain.js";
import type { ChainSnapshot } from "../../../types/chain-adapter.js";
import type { TransactionFilter } from "../../../types/chain-queries.js";
import type { BlockData } from "../../../types/events.js";
import { rowOf, same } from "../comparing.js";
import { transactionSpec, walk } from "../lists.js";
import { type Actor, actors } from "../chain/actors.js";
import type { CaseDefinition, Fixture } from "../target.js";

const { bob, council, cyd, gus, hal, ivy, joe, kim, mia, pia, quin } = actors;

/** Height and position in the block. */
type Place = readonly [height: number, sequence: number];

type ExpectedTransaction = Omit<
  Transaction,
  "id" | "blockId" | "blockHeight" | "sequence" | "senderPublicKey" | "senderId" | "signature" | "secondSignature" | "signatures"
> & {
  sender: Actor;
  /** Which signatures it has; their values are compared with those in the block. */
  signed: readonly ("signature" | "secondSignature" | "signatures")[];
};

const plainTransfer = { version: 1, typeGroup: 1, type: 0 };

/** One example of each thing that is easy to get wrong between the wire form and the interface. */
const literalTransactions: [Place, ExpectedTransaction][] = [
  [
    [2, 0],
    {
      ...plainTransfer,
      sender: joe,
      timestamp: 7_995,
      recipientId: mia.address,
      amount: 9_007_199_254_740_993n,
      fee: 10_000_000n,
      vendorField: "rent",
      signed: ["signature"],
    },
  ],
  [
    [4, 0],
    {
      version: 1,
      typeGroup: 1,
      type: 3,
      sender: joe,
      timestamp: 8_011,
      recipientId: joe.address,
      amount: 0n,
      fee: 100_000_000n,
      asset: { votes: [`+${cyd.publicKey}`] },
      signed: ["signature"],
    },
  ],
  [
    [5, 0],
    {
      version: 1,
      typeGroup: 1,
      type: 5,
      sender: kim,
      timestamp: 8_019,
      amount: 0n,
      fee: 500_000_000n,
      asset: { ipfs: "QmR45FmbVVrixReBwJkhEKde2qwHYaQzGxu4ZoDeswuF9w" },
      signed: ["signature", "secondSignature"],
    },
  ],
  [
    [11, 0],
    {
      version: 2,
      network: 23,
      typeGroup: 1,
      type: 0,
      sender: ivy,
      timestamp: 8_088,
      nonce: 4n,
      recipientId: pia.address,
      amount: 4_000_000_000n,
      fee: 10_000_000n,
      vendorField: "Grüße, 世界 ✓",
      signed: ["signature"],
    },
  ],
  [
    [13, 0],
    {
      version: 2,
      network: 23,
      typeGroup: 1,
      type: 0,
      sender: council,
      timestamp: 8_104,
      nonce: 1n,
      recipientId: pia.address,
      amount: 1_000_000_007n,
      fee: 10_000_000n,
      signed: ["signatures"],
    },
  ],
  [
    [16, 0],
    {
      version: 2,
      network: 23,
      typeGroup: 1,
      type: 6,
      sender: ivy,
      timestamp: 8_128,
      nonce: 8n,
      amount: 0n,
      fee: 10_000_000n,
      vendorField: "wages",
      asset: {
        payments: [
          { recipientId: council.address, amount: "11" },
          { recipientId: pia.address, amount: "22" },
          { recipientId: pia.address, amount: "33" },
          { recipientId: ivy.address, amount: "44" },
          { recipientId: cyd.address, amount: "55" },
        ],
      },
      signed: ["signature"],
    },
  ],
  [
    [17, 2],
    {
      version: 2,
      network: 23,
      typeGroup: 2,
      type: 6,
      sender: bob,
      timestamp: 8_136,
      nonce: 6n,
      amount: 0n,
      fee: 5_000_000_001n,
      asset: { note: "theirs" },
      signed: ["signature"],
    },
  ],
  [
    [21, 0],
    {
      version: 2,
      network: 23,
      typeGroup: 1,
      type: 3,
      sender: joe,
      timestamp: 8_176,
      nonce: 12n,
      amount: 0n,
      fee: 100_000_000n,
      asset: { votes: [`-${cyd.publicKey}`, `+${hal.publicKey}`] },
      signed: ["signature", "secondSignature"],
    },
  ],
  [
    [30, 0],
    {
      version: 2,
      network: 23,
      typeGroup: 1,
      type: 0,
      sender: ivy,
      timestamp: 8_248,
      nonce: 11n,
      recipientId: gus.address,
      amount: 5_000_000_000n,
      fee: 12_345_678n,
      expiration: 40,
      signed: ["signature"],
    },
  ],
];

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
