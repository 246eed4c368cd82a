import type { MaybePromise } from "../../../types/chain-adapter.js";
import { PorticoError } from "../../errors.js";
import { andThen, isPromised } from "../../async/maybe-promise.js";
import { atMost, inTurns, type Steps } from "../../async/time-slicing.js";
import type { Answered, RouteInput } from "./endpoint.js";
import type { Plan } from "./plan.js";
import { createReply, type Reply } from "../reply/reply.js";
import { createReplyCache } from "../cache/response-cache.js";
import type { Scope } from "../route.js";

export interface AnswererNeeds<State extends Scope> {
  openState(): MaybePromise<State>;
  tipId: (() => string | undefined) | undefined;
  /** Bytes of replies that may be kept. */
  cacheSize: number;
  /** Bytes from which on replies are available compressed. */
  threshold: number;
  /** Milliseconds of work for which a new state may be held back while repeated replies are recomputed. */
  longestRenewal: number;
}

export interface Answerer<State extends Scope> {
  /** The reply kept for the current state, if there is one and the state is known without waiting. */
  kept(plan: Plan<State>): Reply | undefined;
  /**
   * Opens a state, computes the reply from it and releases it; sets the state's height on `noted`. Throws what the route throws,
   * and NOT_READY if there is no state.
   */
  reply(plan: Plan<State>, body: unknown, noted: { height: number | undefined }): MaybePromise<Reply>;
  /**
   * Recomputes repeated replies from a state that is about to become current, and releases the state. Resolves when that is done, or
   * when its time is up.
   */
  renew(state: State): Promise<void>;
}

/** Releases a state when `work` is done: synchronously if its result is not a promise. */
const releasing = <T>(state: Scope, work: () => MaybePromise<T>): MaybePromise<T> => {
  let result: MaybePromise<T> | undefined;
  try {
    result = work();
  } finally {
    if (!(result instanceof Promise)) {
      state.release?.();
    }
  }
  return result instanceof Promise ? result.finally(() => state.release?.()) : result;
};

/** Answers plans from states. A kept reply is only ever given out for the state that it was computed from. */
export const createAnswerer = <State extends Scope>(needs: AnswererNeeds<State>): Answerer<State> => {
  const { openState, tipId, cacheSize, threshold, longestRenewal } = needs;
  const replies = createReplyCache<Plan<State>>(cacheSize);
  const running = new Map<string, Promise<Reply>>();

  const replyOf = ({ entry, again }: Plan<State>, { status, json }: Answered, state: State): Reply => {
    const cacheControl = entry.route.authenticated === true ? "no-store" : "no-cache";
    const lasting = again && entry.kept;
    return createReply({ status, json, height: state.tip?.height, validated: entry.kept, cacheControl, lasting }, threshold);
  };

  const answerOf = ({ entry, asked }: Plan<State>, input: RouteInput, state: State): MaybePromise<Answered> =>
    andThen(entry.ask(input, state), (found) => entry.write(found, input, asked));

  /** Lets requests that ask the same of the same state meanwhile share the pending reply. */
  const share = (key: string, answered: Promise<Answered>, plan: Plan<State>, state: State): Promise<Reply> => {
    const forget = (): void => void running.delete(key);
    const reply = answered.then((done) => replyOf(plan, done, state));
    running.set(key, reply);
    reply.then(forget, forget);
    return reply;
  };

  const sharedKey = (plan: Plan<State>, tip: string): string => `${tip} ${plan.question}`;

  const work = (plan: Plan<State>, state: State, tip: string): MaybePromise<Reply> => {
    const shared = running.size === 0 ? undefined : running.get(sharedKey(plan, tip));
    if (shared !== undefined) {
      return shared;
    }
    const answered = answerOf(plan, plan.input, state);
    return answered instanceof Promise ? share(sharedKey(plan, tip), answered, plan, state) : replyOf(plan, answered, state);
  };

  const fromKept = (plan: Plan<State>, state: State, tip: string): MaybePromise<Reply> => {
    if (!plan.again) {
      return work(plan, state, tip);
    }
    const present = replies.get(tip, plan.question);
    if (present !== undefined) {
      return present;
    }
    const made = work(plan, state, tip);
    // Replies that take a while are not recomputed ahead of requests.
    const asked = made instanceof Promise ? undefined : plan;
    return andThen(made, (reply) => {
      replies.keep(tip, plan.question, reply, asked);
      return reply;
    });
  };

  const answer = (plan: Plan<State>, body: unknown, state: State): MaybePromise<Reply> => {
    if (state.tip === undefined && plan.entry.route.stateless !== true) {
      throw new PorticoError("NOT_READY");
    }
    if (state.tip !== undefined && plan.entry.kept) {
      return fromKept(plan, state, state.tip.id);
    }
    const input = body === undefined ? plan.input : { ...plan.input, body };
    return andThen(answerOf(plan, input, state), (answered) => replyOf(plan, answered, state));
  };

  /** Makes one reply, in steps. A pending one is not waited for, and an error is left for the next request to meet. */
  const remake = function* (plan: Plan<State>, state: State, tip: string, slow: Promise<void>[]): Steps<void> {
    const { entry, input, asked } = plan;
    const keep = (reply: Reply): void => replies.keep(tip, plan.question, reply, plan);
    try {
      const found = entry.ask(input, state);
      if (isPromised(found)) {
        const answered = Promise.resolve(found).then((late) => entry.write(late, input, asked));
        slow.push(share(sharedKey(plan, tip), answered, plan, state).then(keep, () => undefined));
        return;
      }
      yield;
      const answered = entry.write(found, input, asked);
      yield;
      keep(replyOf(plan, answered, state));
    } catch {
      // as above
    }
  };

  const renewAll = function* (state: State, tip: string, slow: Promise<void>[]): Steps<void> {
    for (const plan of replies.begin(tip)) {
      yield* remake(plan, state, tip, slow);
      yield;
    }
  };

  const renew = async (state: State): Promise<void> => {
    const slow: Promise<void>[] = [];
    try {
      if (state.tip !== undefined) {
        await inTurns(atMost(longestRenewal, renewAll(state, state.tip.id, slow)));
      }
    } finally {
      void Promise.all(slow).then(() => state.release?.());
    }
  };

  return {
    renew,
    kept: (plan) => {
      const tip = plan.again && plan.entry.kept ? tipId?.() : undefined;
      return tip === undefined ? undefined : replies.get(tip, plan.question);
    },
    reply: (plan, body, noted) =>
      andThen(openState(), (state) =>
        releasing(state, () => {
          noted.height = state.tip?.height;
          return answer(plan, body, state);
        }),
      ),
  };
};
