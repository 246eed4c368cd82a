import { type Static, Type } from "@sinclair/typebox";
import type { FeeStatistics } from "../../../../types/chain.js";
import { AmountText } from "../values/amount.js";

export const FeeStatisticsResource = Type.Object(
  { type: Type.Integer(), typeGroup: Type.Integer(), avg: AmountText, min: AmountText, max: AmountText, sum: AmountText },
  { title: "FeeStatistics" },
);

export const presentFeeStatistics = (statistics: FeeStatistics): Static<typeof FeeStatisticsResource> => ({
  type: statistics.type,
  typeGroup: statistics.typeGroup,
  avg: statistics.avg.toString(),
  min: statistics.min.toString(),
  max: statistics.max.toString(),
  sum: statistics.sum.toString(),
});
