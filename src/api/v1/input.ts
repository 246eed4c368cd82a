import { inputError } from "../../errors.js";
import { isAddress } from "../../chain/address.js";
import { WholeNumber } from "../../http/input/schema.js";
import type { PageRequest } from "../../http/route.js";
import type { ApiState } from "../state.js";

export const largestLimit = 100;

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
