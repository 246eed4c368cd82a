import type { BlockData, TransactionData } from "../../../types/events.js";
import type { Network } from "../../../types/node-context.js";
import { createCast, founders } from "./cast.js";
import { createCrypto, payloadOf } from "./crypto.js";

/** One token, in units of 1e-8, as all amounts are. */
export const token = 100_000_000n;

export const localSeed = "portico local network";

const delegates = 51;
const supply = 125_000_000n * token;
const founderBalance = 50_000n * token;

/** Delegates start with stakes far enough apart to rank them, and the last ones low enough that votes for newcomers can change who forges. */
const stakeOf = (number: number): bigint => (20_000n + BigInt(delegates - number) * 25_000n) * token;

const milestones: Network["milestones"] = [
  {
    height: 1,
    reward: 0,
    activeDelegates: delegates,
    blocktime: 4,
    block: { version: 0, maxTransactions: 150, maxPayload: 2_097_152 },
    epoch: "2017-03-21T13:00:00.000Z",
    fees: {
      staticFees: {
        transfer: 10_000_000,
        secondSignature: 500_000_000,
        delegateRegistration: 2_500_000_000,
        vote: 100_000_000,
        multiSignature: 500_000_000,
        ipfs: 500_000_000,
        // No network of this family ever used this kind, but clients look for its fee.
        timelockTransfer: 0,
        multiPayment: 10_000_000,
        delegateResignation: 2_500_000_000,
        htlcLock: 10_000_000,
        htlcClaim: 0,
        htlcRefund: 0,
      },
    },
    vendorFieldLength: 255,
    multiPaymentLimit: 256,
  },
  { height: 2, aip11: true, htlcEnabled: true, aip36: true, aip37: true },
  { height: 52, reward: 200_000_000 },
];

const parameters = {
  name: "local",
  messagePrefix: "Portico local message:\n",
  bip32: { public: 70_617_039, private: 70_615_956 },
  /** Addresses begin with L. */
  pubKeyHash: 48,
  nethash: "",
  wif: 176,
  slip44: 1,
  aip20: 0,
  client: { token: "LOCAL", symbol: "Ł", explorer: "http://127.0.0.1:4003/api" },
};

const withoutGenesis: Network = {
  network: parameters,
  milestones,
  exceptions: {},
  genesisBlock: {
    id: "0",
    height: 1,
    timestamp: 0,
    generatorPublicKey: "",
    numberOfTransactions: 0,
    totalAmount: 0,
    totalFee: 0,
    reward: 0,
    payloadLength: 0,
    payloadHash: "",
    transactions: [],
  },
};

/** The network `local`. The same seed always gives the same network, to the last signature. */
export const createLocalNetwork = (seed: string = localSeed): Network => {
  const crypto = createCrypto(withoutGenesis);
  const cast = createCast(seed, crypto);
  const genesis = crypto.keysOf(`${seed} genesis`);

  const numbers = Array.from({ length: delegates }, (_, index) => index + 1);
  const balances: [address: string, amount: bigint][] = [
    ...numbers.map((number): [string, bigint] => [cast.delegate(number).address, stakeOf(number)]),
    ...Array.from({ length: founders }, (_, number): [string, bigint] => [cast.person(number).address, founderBalance]),
  ];
  const given = balances.reduce((sum, [, amount]) => sum + amount, 0n);
  balances.push([cast.treasury.address, supply - given]);

  const transactions: TransactionData[] = [
    ...balances.map(([recipientId, amount]) => crypto.signGenesis({ type: 0, fee: 0n, amount, recipientId }, genesis)),
    ...numbers.map((number) => {
      const { keys, username } = cast.delegate(number);
      return crypto.signGenesis({ type: 2, fee: 0n, asset: { delegate: { username, publicKey: keys.publicKey } } }, keys);
    }),
    ...numbers.map((number) => {
      const { keys, address } = cast.delegate(number);
      return crypto.signGenesis({ type: 3, fee: 0n, recipientId: address, asset: { votes: [`+${keys.publicKey}`] } }, keys);
    }),
  ];
  const payload = payloadOf(transactions.map(({ id, amount, fee }) => ({ id, amount: BigInt(String(amount)), fee: BigInt(String(fee)) })));
  const genesisBlock: BlockData = crypto.signBlock(
    { version: 0, height: 1, timestamp: 0, previousBlock: null, reward: "0", generatorPublicKey: genesis.publicKey, ...payload, transactions },
    genesis,
  );
  return { network: { ...parameters, nethash: payload.payloadHash }, milestones, exceptions: {}, genesisBlock };
};

let local: Network | undefined;

/** The network `local`, signed once by a process. Not to be changed by those who get it. */
export const localNetwork = (): Network => (local ??= createLocalNetwork());
