import { type TProperties, Type } from "@sinclair/typebox";
import { isAddress } from "../../chain/address.js";
import { inputError } from "../../errors.js";
import { WholeNumber } from "../../http/input/schema.js";
import type { PageRequest } from "../../http/route.js";
import type { ApiState } from "../state.js";

/** Common to all routes of the first generation. Unknown parameters are ignored, since deployed clients send some that no route reads. */
export const firstGeneration = { method: "GET", versions: [1], ignoresUnknownQuery: true } as const;

/** Schema of a successful reply: its own members and `success`. Errors are reported in the same form, by src/http/reply/error-reply.ts. */
export const SucceededWith = <Members extends TProperties>(members: Members) => Type.Object({ ...members, success: Type.Literal(true) });

export const succeeded = <Members extends object>(members: Members): Members & { success: true } => ({ ...members, success: true });

const largestLimit = 100;

/** Paging of every list that has no limits of its own. */
export const paging = {
  limit: WholeNumber({ minimum: 0, maximum: largestLimit, default: largestLimit, description: "Number of rows; 0 means the default." }),
  offset: WholeNumber({ minimum: 0, default: 0, description: "Rows to skip." }),
};

export const pageOfQuery = ({ limit, offset }: PageRequest): PageRequest => ({ offset, limit: limit === 0 ? largestLimit : limit });

/**
 * Accepts a valid address of the network, and the address of any wallet in the chain even if it is not valid.
 * @throws PorticoError BAD_REQUEST for any other text
 */
export const requireAddress = async (key: string, address: string, { chain, rules }: ApiState): Promise<void> => {
  if (isAddress(address, rules.network.network.pubKeyHash)) return;
  if ((await chain.wallet(address))?.address === address) return;
  throw inputError("query", key, "must be an address of this network");
};
