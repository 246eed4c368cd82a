import type { Transaction } from "../../../types/chain.js";
import { type Actor, actors } from "../chain/actors.js";

const { bob, council, cyd, gus, hal, ivy, joe, kim, mia, pia } = actors;

/** Height and position in the block. */
export type Place = readonly [height: number, sequence: number];

export type ExpectedTransaction = Omit<
  Transaction,
  "id" | "blockId" | "blockHeight" | "sequence" | "senderPublicKey" | "senderId" | "signature" | "secondSignature" | "signatures"
> & {
  sender: Actor;
  /** Which signatures it has; their values are compared with those in the block. */
  signed: readonly ("signature" | "secondSignature" | "signatures")[];
};

const plainTransfer = { version: 1, typeGroup: 1, type: 0 };

/** One example of each thing that is easy to get wrong between the wire form and the interface. */
export const literalTransactions: [Place, ExpectedTransaction][] = [
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
