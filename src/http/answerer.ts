import type { MaybePromise } from "../../types/chain-adapter.js";
import { PorticoError } from "../errors.js";
import type { RouteInput } from "./compiled-route.js";
import type { Plan } from "./plan.js";
import { createReply, type Reply } from "./reply.js";
import { createReplyCache } from "./reply-cache.js";
import type { Scope } from "./route.js";

export interface AnswererNeeds<State extends Scope> {
  openState(): MaybePromise<State>;
  tipId: (() => string | undefined) | undefined;
  /** Bytes of replies kept. */
  cacheSize: number;
  /** Bytes from which on replies can be had compressed. */
  threshold: number;
}

export interface Answerer<State extends Scope> {
  /** The reply that is kept in the state of now, where that state is known without waiting. */
  kept(plan: Plan<State>): Reply | undefined;
  /**
   * Opens a state, asks it, releases it; `noted` is told the state's height. Throws what the route throws, and NOT_READY where
   * there is no state to ask.
   */
  reply(plan: Plan<State>, body: unknown, noted: { height: number | undefined }): Promise<Reply>;
}

/** Answers plans from states. Kept replies are of the state they are given out for, always. */
export const createAnswerer = <State extends Scope>({
  openState,
  tipId,
  cacheSize,
  threshold,
}: AnswererNeeds<State>): Answerer<State> => {
  const replies = createReplyCache(cacheSize);
  const running = new Map<string, Promise<Reply>>();

  const compute = async ({ entry, asked }: Plan<State>, input: RouteInput, state: State): Promise<Reply> => {
    const { status, json } = await entry.answer(input, asked, state);
    const cacheControl = entry.route.authenticated === true ? "no-store" : "no-cache";
    return createReply({ status, json, height: state.tip?.height, validated: entry.kept, cacheControl }, threshold);
  };

  /** Equal questions that one state is asked at the same time share one answer. */
  const computeOnce = (plan: Plan<State>, state: State, tip: string): Promise<Reply> => {
    const key = `${tip} ${plan.question}`;
    const started = running.get(key);
    if (started !== undefined) {
      return started;
    }
    const reply = compute(plan, plan.input, state);
    running.set(key, reply);
    const forget = (): void => void running.delete(key);
    reply.then(forget, forget);
    return reply;
  };

  const keep = async (plan: Plan<State>, state: State, tip: string): Promise<Reply> => {
    const present = replies.get(tip, plan.question);
    if (present !== undefined) {
      return present;
    }
    const reply = await computeOnce(plan, state, tip);
    replies.keep(tip, plan.question, reply);
    return reply;
  };

  const answer = (plan: Plan<State>, body: unknown, state: State): Promise<Reply> => {
    if (state.tip === undefined && plan.entry.route.stateless !== true) {
      throw new PorticoError("NOT_READY");
    }
    if (state.tip !== undefined && plan.entry.kept) {
      return keep(plan, state, state.tip.id);
    }
    return compute(plan, body === undefined ? plan.input : { ...plan.input, body }, state);
  };

  return {
    kept: (plan) => {
      const tip = plan.entry.kept ? tipId?.() : undefined;
      return tip === undefined ? undefined : replies.get(tip, plan.question);
    },
    reply: async (plan, body, noted) => {
      const state = await openState();
      try {
        noted.height = state.tip?.height;
        return await answer(plan, body, state);
      } finally {
        state.release?.();
      }
    },
  };
};
