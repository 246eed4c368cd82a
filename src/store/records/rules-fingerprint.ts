import type { ChainRules } from "../../chain/rules.js";
import { versionsOf } from "../../chain/blocks/transaction-types.js";
import { PorticoError } from "../../errors.js";
import type { StateRecord } from "../layout/codec.js";
import type { Environment } from "../lmdb/environment.js";
import { textKey } from "../layout/keys.js";
import { createReadSession } from "../lmdb/read-session.js";
import { readState } from "./records.js";
import { transactAnyway } from "../lmdb/safe/transact.js";

/**
 * The rules from which a stored state follows, as far as data can express them. A state computed by rules other than those the host
 * gives now would be silently wrong, from the first block that they differ in.
 */
interface RulesFingerprint {
  /** Version byte of addresses. */
  pubKeyHash: number;
  /** Heights at which the constants that state depends on change, and their values from there on. */
  constants: [height: number, ...constants: unknown[]][];
  /** By group, type and version: whether the sender pays, and whether the kind of transactions has an effect and recipients of its own. */
  kinds: Record<string, [senderPays: boolean, apply: boolean, recipients: boolean]>;
}

const rulesKey = textKey("written by");

const keptOf = ({ network, milestones, types }: ChainRules): RulesFingerprint => ({
  pubKeyHash: network.network.pubKeyHash,
  // Of several milestones at one height, the last one holds.
  constants: milestones.all
    .filter(({ height }, i, all) => all[i + 1]?.height !== height)
    .map(({ height, reward, activeDelegates, blocktime }) => [height, String(reward), activeDelegates, blocktime]),
  kinds: Object.fromEntries(
    types.all.flatMap(({ senderPays = true, apply, recipients, ...row }) =>
      versionsOf(row).map((version) => [`${row.typeGroup}/${row.type}/${version}`, [senderPays, apply !== undefined, recipients !== undefined]]),
    ),
  ),
});

/** The constants at each height at which they change, up to the tip. */
const constantsUpTo = (height: number, { constants }: RulesFingerprint): unknown[] =>
  constants.filter(([from, ...values], i) => from <= height && JSON.stringify(values) !== JSON.stringify(constants[i - 1]?.slice(1)));

/** Assumed of a kind that the rules do not name. */
const unnamed = [true, false, false];

const kindOf = ({ typeGroup, type, version }: StateRecord["kinds"][number], { kinds }: RulesFingerprint): unknown =>
  kinds[`${typeGroup}/${type}/${version}`] ?? kinds[`${typeGroup}/${type}/${Math.min(version, 2)}`] ?? unnamed;

/** What differs for a chain up to this state, in words. Milestones above its tip and kinds that it has none of may differ freely. */
const difference = (kept: RulesFingerprint, given: RulesFingerprint, { tip, kinds }: StateRecord): string | undefined => {
  if (kept.pubKeyHash !== given.pubKeyHash) return `address version byte ${kept.pubKeyHash}, not ${given.pubKeyHash}`;
  if (JSON.stringify(constantsUpTo(tip.height, kept)) !== JSON.stringify(constantsUpTo(tip.height, given))) {
    return "other milestones up to its tip (reward, activeDelegates or blocktime)";
  }
  const other = kinds.find((kind) => kind.count > 0 && JSON.stringify(kindOf(kind, kept)) !== JSON.stringify(kindOf(kind, given)));
  return other && `another definition of transactions of group ${other.typeGroup}, type ${other.type}, version ${other.version}, of which it has ${other.count}`;
};

/**
 * Compares the rules that the store was written by with those that are given, and stores the latter if this process writes.
 * @throws PorticoError STORE_FOREIGN
 */
export const checkRules = (environment: Environment, rules: ChainRules, { writes }: { writes: boolean }): void => {
  const { db, path } = environment;
  const state = readState(createReadSession(environment));
  const given = keptOf(rules);
  const kept = db.meta.get(rulesKey) as RulesFingerprint | undefined;
  const differing = kept === undefined || state === undefined ? undefined : difference(kept, given, state);
  if (differing !== undefined) {
    throw new PorticoError(
      "STORE_FOREIGN",
      `${path} was written with ${differing}: restore the former rules, or move the store away and the chain is reindexed from the block source; webhooks are kept`,
    );
  }
  if (writes && JSON.stringify(kept) !== JSON.stringify(given)) transactAnyway(environment, () => db.meta.putSync(rulesKey, given));
};
