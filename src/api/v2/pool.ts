import { type Static, Type } from "@sinclair/typebox";
import type { TransactionData } from "../../../types/events.js";
import type { PoolResult } from "../../../types/node-context.js";
import { inKnownCase } from "../fields.js";
import type { ApiState } from "../state.js";
import { presentUnconfirmed, type UnconfirmedTransactionResource } from "./transactions.js";
import { parseTransaction, type UnconfirmedTransaction } from "../../chain/blocks/block.js";
import { PorticoError } from "../../errors.js";
import type { PageAnswer, PageRequest } from "../../http/route.js";

const Ids = Type.Array(Type.String());

/** The outcome of submitting transactions: ids by what became of the transaction. */
export const PoolResultResource = Type.Object(
  {
    data: Type.Object({ accept: Ids, broadcast: Ids, excess: Ids, invalid: Ids }),
    errors: Type.Optional(
      Type.Unsafe<Record<string, { type: string; message: string }[]>>({
        type: "object",
        additionalProperties: {
          type: "array",
          items: {
            type: "object",
            properties: { type: { type: "string" }, message: { type: "string" } },
            required: ["type", "message"],
          },
        },
        description: "Id of a transaction -> why it is under `invalid` or `excess`.",
      }),
    ),
  },
  { title: "PoolResult" },
);

type PresentedUnconfirmed = Static<typeof UnconfirmedTransactionResource>;

/** Parses a transaction from the host's pool. */
export const readUnconfirmed = (data: TransactionData, { rules }: ApiState): UnconfirmedTransaction =>
  parseTransaction(data, `unconfirmed transaction ${data.id}`, rules.addressOf);

/** In the pool's own order; empty for a host without a pool. */
export const allUnconfirmed = async ({ host: { pool } }: ApiState): Promise<readonly TransactionData[]> => (await pool?.list()) ?? [];

const fromPool = async (id: string, state: ApiState): Promise<TransactionData | undefined> => {
  const { pool } = state.host;
  return pool?.get === undefined ? (await allUnconfirmed(state)).find((data) => data.id === id) : pool.get(id);
};

/** @throws PorticoError TRANSACTION_NOT_FOUND */
export const unconfirmedNamed = async (id: string, state: ApiState): Promise<UnconfirmedTransaction> => {
  const found = await fromPool(inKnownCase(id), state);
  if (found === undefined) throw new PorticoError("TRANSACTION_NOT_FOUND");
  return readUnconfirmed(found, state);
};

export const listUnconfirmed = async ({ offset, limit }: PageRequest, state: ApiState): Promise<PageAnswer<PresentedUnconfirmed>> => {
  const all = await allUnconfirmed(state);
  const rows = all.slice(offset, offset + limit).map((data) => presentUnconfirmed(readUnconfirmed(data, state), state.rules.epoch));
  return { rows, total: all.length };
};

/** @throws PorticoError TRANSACTION_NOT_FOUND */
export const findUnconfirmed = async (id: string, state: ApiState): Promise<PresentedUnconfirmed> =>
  presentUnconfirmed(await unconfirmedNamed(id, state), state.rules.epoch);

/** Most transactions in one `POST /transactions`. */
export const mostSubmitted = 40;

const unprocessable = (message: string): PorticoError =>
  new PorticoError("UNPROCESSABLE", message, { validation: { source: "payload", keys: ["transactions"] } });

const isTransaction = (value: unknown): value is TransactionData =>
  typeof value === "object" && value !== null && "id" in value && typeof value.id === "string" && value.id !== "";

/** @throws PorticoError UNPROCESSABLE for anything but a list of 1 to `mostSubmitted` transactions, each with its id. */
const readSubmitted = (transactions: unknown): TransactionData[] => {
  if (!Array.isArray(transactions)) throw unprocessable('"transactions" must be a list');
  if (transactions.length === 0) throw unprocessable('"transactions" must not have fewer than 1 items');
  if (transactions.length > mostSubmitted) throw unprocessable(`"transactions" must not have more than ${mostSubmitted} items`);
  const nameless = transactions.findIndex((transaction) => !isTransaction(transaction));
  if (nameless !== -1) throw unprocessable(`"transactions.${nameless}" must be a transaction with its id`);
  return transactions as TransactionData[];
};

const nothing: PoolResult = { accept: [], broadcast: [], excess: [], invalid: [] };

/**
 * Passes transactions to the host's pool, except those already in the chain, which are reported as invalid.
 * @throws PorticoError NOT_SUPPORTED if the host takes no transactions, UNPROCESSABLE as `readSubmitted` does.
 */
export const submitTransactions = async (submitted: unknown, { chain, host: { pool } }: ApiState): Promise<PoolResult> => {
  if (pool?.submit === undefined) throw new PorticoError("NOT_SUPPORTED", "This node does not accept transactions.");
  const transactions = readSubmitted(submitted);
  const forged = new Set<string>();
  for (const { id } of transactions) if ((await chain.transaction(id)) !== undefined) forged.add(id);
  const fresh = transactions.filter(({ id }) => !forged.has(id));
  const result = fresh.length === 0 ? nothing : await pool.submit(fresh);
  if (forged.size === 0) return result;
  const refused = Object.fromEntries([...forged].map((id) => [id, [{ type: "ERR_FORGED", message: "Already forged." }]]));
  return { ...result, invalid: [...forged, ...result.invalid], errors: { ...refused, ...result.errors } };
};
