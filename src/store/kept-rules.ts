import type { ChainRules } from "../chain/rules.js";
import { PorticoError } from "../errors.js";
import type { StateRecord } from "./codec.js";
import type { Environment } from "./environment.js";
import { textKey } from "./keys.js";
import { createReading } from "./reading.js";
import { readState } from "./records.js";
import { transact } from "./transact.js";

/**
 * What of the rules a stored state followed from, as far as data can tell. A state that was worked out by other rules than the host
 * gives now would be wrong without a word, from the first block that they differ in.
 */
interface KeptRules {
  /** Version byte of addresses. */
  pubKeyHash: number;
  /** Heights at which constants change that state follows from, and what they are from there. */
  constants: [height: number, ...constants: unknown[]][];
  /** By group, number and version: whether the sender pays, and which parts of an effect a kind of transactions has. */
  kinds: Record<string, [senderPays: boolean, apply: boolean, recipients: boolean]>;
}

const rulesKey = textKey("written by");

const keptOf = ({ network, milestones, types }: ChainRules): KeptRules => ({
  pubKeyHash: network.network.pubKeyHash,
  // Of several milestones at one height the last says what holds.
  constants: milestones.all
    .filter(({ height }, i, all) => all[i + 1]?.height !== height)
    .map(({ height, reward, activeDelegates, blocktime }) => [height, String(reward), activeDelegates, blocktime]),
  kinds: Object.fromEntries(
    types.all.flatMap(({ typeGroup, type, versions = [1, 2], senderPays = true, apply, recipients }) =>
      versions.map((version) => [`${typeGroup}/${type}/${version}`, [senderPays, apply !== undefined, recipients !== undefined]]),
    ),
  ),
});

/** The constants at each height at which they change, up to the tip. */
const constantsUpTo = (height: number, { constants }: KeptRules): unknown[] =>
  constants.filter(([from, ...values], i) => from <= height && JSON.stringify(values) !== JSON.stringify(constants[i - 1]?.slice(1)));

/** What a kind is taken for that no row names. */
const unnamed = [true, false, false];

const kindOf = ({ typeGroup, type, version }: StateRecord["kinds"][number], { kinds }: KeptRules): unknown =>
  kinds[`${typeGroup}/${type}/${version}`] ?? kinds[`${typeGroup}/${type}/${Math.min(version, 2)}`] ?? unnamed;

/** What differs for a chain up to this state, in words. Milestones above its tip and kinds that it has none of may come and go. */
const difference = (kept: KeptRules, given: KeptRules, { tip, kinds }: StateRecord): string | undefined => {
  if (kept.pubKeyHash !== given.pubKeyHash) return `addresses of version ${kept.pubKeyHash}, not ${given.pubKeyHash}`;
  if (JSON.stringify(constantsUpTo(tip.height, kept)) !== JSON.stringify(constantsUpTo(tip.height, given))) {
    return "other milestones below its tip (reward, activeDelegates or blocktime)";
  }
  const other = kinds.find((kind) => kind.count > 0 && JSON.stringify(kindOf(kind, kept)) !== JSON.stringify(kindOf(kind, given)));
  return other && `another notion of transactions of group ${other.typeGroup}, type ${other.type}, version ${other.version}, of which it has ${other.count}`;
};

/**
 * Holds the rules that the store was written by against those that are given, and keeps the latter where this process writes.
 * @throws PorticoError STORE_FOREIGN
 */
export const checkRules = (environment: Environment, rules: ChainRules, { writes }: { writes: boolean }): void => {
  const { db, path } = environment;
  const state = readState(createReading(environment));
  const given = keptOf(rules);
  const kept = db.meta.get(rulesKey) as KeptRules | undefined;
  const differing = kept === undefined || state === undefined ? undefined : difference(kept, given, state);
  if (differing !== undefined) {
    throw new PorticoError(
      "STORE_FOREIGN",
      `${path} was written with ${differing}: give it the same again, or move it away and the chain is indexed anew from the block source; webhooks have to be made anew`,
    );
  }
  if (writes && JSON.stringify(kept) !== JSON.stringify(given)) transact(environment, () => db.meta.putSync(rulesKey, given));
};
