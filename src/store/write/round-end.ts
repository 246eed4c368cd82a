import { delegatePart, ranksPart } from "../../chain/digest.js";
import { rankDelegates, roundOf } from "../../chain/rounds.js";
import { delegateCodec, rankingCodec } from "../layout/codec.js";
import { idKey, numberKey } from "../layout/keys.js";
import { existing, rankingKey, readBlock, readDelegate, readRanking, readRound } from "../records/records.js";
import type { Sliced } from "../../async/time-slicing.js";
import type { Writing } from "./writing.js";

/** What the last block of a round writes beyond what every block does. Genesis writes a ranking too, but ends no round. */
export const endRound = function* (height: number, writing: Writing): Sliced<void> {
  if (height > 1) yield* countMissed(height, writing);
  yield* writeRanking(height, writing);
};

/** The round counts as missed for those of its active delegates who forged none of its blocks. */
const countMissed = function* (height: number, { journal, reading, rules, standings, digest, history }: Writing): Sliced<void> {
  const { round, firstHeight } = roundOf(height, rules.milestones);
  const generators = new Set<string>();
  for (let at = firstHeight; at <= height; at++) {
    generators.add(existing(readBlock(reading, at), `block ${at}`).generatorPublicKey);
    yield;
  }
  for (const { publicKey } of existing(readRound(reading, round), `round ${round}`)) {
    if (generators.has(publicKey)) continue;
    const record = existing(readDelegate(reading, publicKey), `delegate ${publicKey}`);
    const number = history === undefined ? undefined : standings.numberOf(publicKey);
    if (number !== undefined) history?.delegate(number, record);
    const after = { ...record, missedBlocks: record.missedBlocks + 1 };
    journal.put("delegates", idKey(publicKey), delegateCodec.pack(after));
    digest.takeOff(delegatePart(record));
    digest.add(delegatePart(after));
  }
};

/** The ranking, and who is active in the next round. */
const writeRanking = function* (height: number, { journal, reading, rules, standings, digest, history }: Writing): Sliced<void> {
  const ranking = rankDelegates(yield* standings.all());
  yield;
  const keysOf = (ranked: readonly { publicKey: string }[]): string[] => ranked.map(({ publicKey }) => publicKey);
  const before = readRanking(reading);
  digest.takeOff(ranksPart(keysOf(before)));
  digest.add(ranksPart(keysOf(ranking)));
  const next = roundOf(height + 1, rules.milestones);
  if (height > 1) history?.ranks(before, ranking, standings.numberOf);
  journal.put("meta", rankingKey, rankingCodec.pack(ranking));
  journal.put("rounds", numberKey(next.round), rankingCodec.pack(ranking.slice(0, next.activeDelegates)));
};
