import { createBoundedMap } from "./bounded-map.js";
import type { Reply } from "./reply.js";

/** Replies of one state, and of that alone: all are dropped as soon as another state is asked about. */
export interface ReplyCache {
  /** `tip` names the state, `question` all that was asked: route and whole parsed input. */
  get(tip: string, question: string): Reply | undefined;
  /** Does nothing when the cache has moved on to another state. */
  keep(tip: string, question: string, reply: Reply): void;
}

export const createReplyCache = (bytes: number): ReplyCache => {
  const replies = createBoundedMap<Reply>(bytes);
  let current: string | undefined;
  return {
    get: (tip, question) => {
      if (tip !== current) {
        current = tip;
        replies.clear();
      }
      return replies.get(question);
    },
    keep: (tip, question, reply) => {
      if (tip === current) {
        replies.set(question, reply, reply.size + 2 * question.length);
      }
    },
  };
};
