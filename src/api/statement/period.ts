import type { ChainSnapshot } from "../../../types/chain-adapter.js";
import type { Range } from "../../../types/chain-queries.js";
import type { Epoch } from "../../chain/epoch.js";
import { inputError, PorticoError } from "../../errors.js";
import { InputOf, isoDate, isoTime, spanOf } from "../../http/input/schema.js";
import { isDigits } from "../../text/digits.js";

/** The first height from 1 on whose block is not before a time; that above the tip if there is none. Blocks never go back in time. */
export const firstHeightAt = async (timestamp: number, chain: ChainSnapshot): Promise<number> => {
  let [low, high] = [1, chain.tip.height + 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const block = await chain.block({ height: middle });
    if (block === undefined) throw new PorticoError("NOT_READY");
    if (block.timestamp >= timestamp) high = middle;
    else low = middle + 1;
  }
  return low;
};

/** The heights of the blocks in a range of epoch times, both included. */
export const heightsWithin = async ({ from, to }: Range<number>, chain: ChainSnapshot): Promise<Range<number>> => ({
  ...(from === undefined ? {} : { from: await firstHeightAt(from, chain) }),
  ...(to === undefined ? {} : { to: (await firstHeightAt(Math.floor(to) + 1, chain)) - 1 }),
});

/** A height, or the first and the last moment of what is named, in milliseconds since 1970. */
export type PeriodEnd = { height: number } | { begin: number; end: number };

const parseEnd = (text: string): PeriodEnd | undefined => {
  if (isDigits(text) && text.length < 16) return { height: Number(text) };
  return spanOf(text);
};

/** One end of a period. */
export const PeriodEndInput = (description: string) =>
  InputOf<PeriodEnd>(
    {
      parse: (value) => {
        const end = typeof value === "string" ? parseEnd(value) : undefined;
        return end === undefined
          ? { rule: "must be a height, an ISO 8601 time with its zone (+ is written as %2B), or a date" }
          : { value: end };
      },
      accepts: { type: "string", pattern: `^[0-9]{1,15}$|${isoDate.source}|${isoTime.source}` },
    },
    { description },
  );

export interface Heights {
  from: number;
  to: number;
}

/**
 * The heights of a period, both included; the end is the tip at the latest. @throws PorticoError BAD_REQUEST if it ends before it begins
 */
export const heightsOf = async (from: PeriodEnd | undefined, to: PeriodEnd | undefined, chain: ChainSnapshot, epoch: Epoch): Promise<Heights> => {
  const refuse = (): never => {
    throw inputError("query", "from", 'must not be beyond "to"');
  };
  if (from !== undefined && to !== undefined && "height" in from && "height" in to && from.height > to.height) refuse();
  if (from !== undefined && to !== undefined && "begin" in from && "begin" in to && from.begin > to.end) refuse();
  const first = from === undefined ? 1 : "height" in from ? Math.max(1, from.height) : await firstHeightAt(Math.ceil(epoch.fromMilliseconds(from.begin)), chain);
  const last = to === undefined ? chain.tip.height : "height" in to ? to.height : (await firstHeightAt(Math.floor(epoch.fromMilliseconds(to.end)) + 1, chain)) - 1;
  if (from !== undefined && to !== undefined && "height" in from !== "height" in to && first > last + 1) refuse();
  return { from: first, to: Math.min(last, chain.tip.height) };
};
