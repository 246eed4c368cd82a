import { type BoundedMap, createBoundedMap } from "./bounded-map.js";
import type { Reply } from "./reply.js";

/** Replies of one state, and of that alone: all are dropped as soon as another state is asked about. */
export interface ReplyCache<Asked> {
  /** `tip` names the state, `question` all that was asked: route and whole parsed input. */
  get(tip: string, question: string): Reply | undefined;
  /** Does nothing when the cache has moved on to another state. `asked`: by what the reply can be made anew; not given: it is not to be. */
  keep(tip: string, question: string, reply: Reply, asked?: Asked): void;
  /**
   * Begins with replies of a state that nobody asks about yet: they are there when somebody does. Returns what was asked for of the one
   * before since that began.
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
