import { type BoundedMap, createBoundedMap } from "./bounded-map.js";
import type { Reply } from "../reply/reply.js";

/** Replies computed from the current state, dropped as soon as another state is asked about, and those prepared for the next one. */
export interface ReplyCache<Asked> {
  /** `tip` identifies the state; `question` identifies everything that was asked: the route and its whole parsed input. */
  get(tip: string, question: string): Reply | undefined;
  /** Does nothing if the cache has moved on to another state. `asked`: what the reply can be recomputed from; absent: it will not be. */
  keep(tip: string, question: string, reply: Reply, asked?: Asked): void;
  /**
   * Starts collecting replies for the next state, before anybody asks about it. Returns what has been asked of the current state, and
   * nothing if the state prepared before was never asked about.
   */
  begin(tip: string): Asked[];
}

interface Kept<Asked> {
  reply: Reply;
  asked: Asked | undefined;
  wanted: boolean;
}

interface OfState<Asked> {
  tip: string;
  replies: BoundedMap<Kept<Asked>>;
}

export const createReplyCache = <Asked>(bytes: number): ReplyCache<Asked> => {
  const ofState = (tip: string): OfState<Asked> => ({ tip, replies: createBoundedMap<Kept<Asked>>(bytes) });
  let current: OfState<Asked> | undefined;
  let following: OfState<Asked> | undefined;

  const moveTo = (tip: string): OfState<Asked> => {
    const next = following?.tip === tip ? following : ofState(tip);
    following = undefined;
    return (current = next);
  };

  return {
    get: (tip, question) => {
      const { replies } = current?.tip === tip ? current : moveTo(tip);
      const kept = replies.get(question);
      if (kept === undefined) {
        return undefined;
      }
      kept.wanted = true;
      return kept.reply;
    },
    keep: (tip, question, reply, asked) => {
      const [state, wanted] = tip === current?.tip ? [current, true] : [following, false];
      if (state?.tip === tip) {
        state.replies.set(question, { reply, asked, wanted }, reply.size + 2 * question.length);
      }
    },
    begin: (tip) => {
      const neverAsked = following !== undefined;
      following = ofState(tip);
      const kept = neverAsked ? [] : (current?.replies.values() ?? []);
      return kept.filter(({ wanted }) => wanted).map(({ asked }) => asked).filter((asked) => asked !== undefined);
    },
  };
};
