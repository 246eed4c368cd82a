import { type Static, Type } from "@sinclair/typebox";
import type { RoundDelegate } from "../../../types/chain.js";
import { PorticoError } from "../../errors.js";
import { Text } from "../../http/input/schema.js";
import { type Route, routesOf } from "../../http/route.js";
import { Amount, DataOf } from "../resources/values.js";
import { type ApiState, requireSupport } from "../state.js";

const RoundDelegateResource = Type.Object(
  {
    publicKey: Type.String(),
    username: Type.String(),
    votes: Type.Unsafe<bigint>({ ...Amount, description: "Vote balance with which the delegate entered the round." }),
  },
  { title: "RoundDelegate" },
);

const presentRoundDelegate = ({ publicKey, username, voteBalance }: RoundDelegate): Static<typeof RoundDelegateResource> => ({
  publicKey,
  username,
  votes: voteBalance,
});

const { item } = routesOf<ApiState>();

export const roundRoutes: Route<ApiState>[] = [
  item({
    method: "GET",
    versions: [2],
    resource: "rounds",
    path: "/rounds/{id}/delegates",
    atHeight: true,
    summary: "Lists the active delegates of a round, by rank.",
    params: Type.Object({ id: Text({ description: "Number of the round, from 1." }) }),
    errors: [404, 501],
    reply: DataOf(Type.Array(RoundDelegateResource)),
    answer: async ({ params: { id } }, state) => {
      requireSupport("rounds", state);
      const delegates = /^[1-9][0-9]{0,14}$/.test(id) ? await state.chain.round(Number(id)) : undefined;
      if (delegates === undefined) throw new PorticoError("ROUND_NOT_FOUND");
      return { data: delegates.map(presentRoundDelegate) };
    },
  }),
];
