import { type Static, Type } from "@sinclair/typebox";
import { parseAmount } from "../../../chain/amount.js";
import type { Constants } from "../../../chain/milestones.js";
import { ConstantAmount } from "../values/amount.js";

/** A network's fixed fees, by key of the transaction type. */
export const StaticFees = Type.Unsafe<Record<string, bigint>>({ type: "object", additionalProperties: { ...ConstantAmount } });

/** The milestones up to a height, merged; `height` is that of the last one. Members that a fork adds pass through. */
export const ConstantsResource = Type.Object(
  {
    height: Type.Integer(),
    reward: ConstantAmount,
    activeDelegates: Type.Integer(),
    blocktime: Type.Integer({ description: "Seconds." }),
    epoch: Type.String({ description: "ISO 8601." }),
    block: Type.Optional(
      Type.Object(
        {
          version: Type.Optional(Type.Integer()),
          maxTransactions: Type.Optional(Type.Integer()),
          maxPayload: Type.Optional(Type.Integer({ description: "Bytes." })),
          idFullSha256: Type.Optional(Type.Boolean()),
        },
        { additionalProperties: true },
      ),
    ),
    fees: Type.Optional(Type.Object({ staticFees: Type.Optional(StaticFees) }, { additionalProperties: true })),
    vendorFieldLength: Type.Optional(Type.Integer({ description: "Bytes." })),
  },
  { title: "Constants", additionalProperties: true },
);

export const presentStaticFees = ({ fees }: Constants): Record<string, bigint> =>
  Object.fromEntries(Object.entries(fees?.staticFees ?? {}).map(([key, fee]) => [key, parseAmount(fee)]));

export const presentConstants = (constants: Constants): Static<typeof ConstantsResource> => {
  const { fees, reward, ...rest } = constants;
  return {
    ...rest,
    reward: parseAmount(reward),
    ...(fees === undefined ? {} : { fees: { ...fees, staticFees: presentStaticFees(constants) } }),
  };
};
