import { LRUCache } from "lru-cache";
import type { MaybePromise } from "../../types/chain-adapter.js";
import { isPromised } from "../async/maybe-promise.js";
import { atMost, runSliced, type Sliced } from "../async/time-slicing.js";
import type { Reply } from "./reply/reply.js";
import type { Scope } from "./route.js";

/** A request that was made more than once, and the replies kept for it. */
export interface CacheEntry<Request> {
  readonly key: string;
  readonly request: Request;
  /** Whether its answer takes a while, so that it is not computed before somebody asks. */
  slow: boolean;
  /** The tip at which its reply was last asked for. */
  askedAt: string | undefined;
  kept: Kept | undefined;
  /** The reply at a tip that nobody has asked about yet. */
  prepared: Kept | undefined;
}

interface Kept {
  readonly tip: string;
  readonly reply: Reply;
}

/**
 * Parsed requests and their replies, by key: all that a reply depends on besides the state. A reply is given out only at the tip at which
 * it was computed.
 */
export interface ResponseCache<Request> {
  /** What it holds, in bytes. */
  readonly size: number;
  find(key: string): CacheEntry<Request> | undefined;
  /** Gives a request an entry if the same request came before, not long ago: one that is made once is not worth the memory. */
  admit(key: string, request: Request): CacheEntry<Request> | undefined;
  replyAt(entry: CacheEntry<Request>, tip: string): Reply | undefined;
  keep(entry: CacheEntry<Request>, tip: string, reply: Reply): void;
  /** The reply that is being computed for an equal request at the same tip. */
  pending(key: string, tip: string): Promise<Reply> | undefined;
  /** Lets equal requests share a reply until it has come. */
  share(key: string, tip: string, reply: Promise<Reply>): void;
  /**
   * Makes room for replies at a tip that nobody has asked about yet. Returns the entries asked for at the tip before it; none if nobody has
   * asked since the last call.
   */
  prepare(tip: string): Iterable<CacheEntry<Request>>;
}

/** Bytes that a parsed request takes besides its key, which it holds about four times over. */
const parsedSize = 1500;

/** Number of recent keys among which repeats are recognized: somewhat more than the replies in a cache of the default size. */
const rememberedKeys = 65_536;

const sharedKey = (key: string, tip: string): string => `${tip} ${key}`;

/** `bytes`: the most that it may hold. With 0, nothing is kept. */
export const createResponseCache = <Request>(bytes: number): ResponseCache<Request> => {
  // A single large entry may not displace all others. (For lru-cache, 0 would mean no limit.)
  const sizes = { maxSize: bytes, maxEntrySize: Math.ceil(bytes / 2) };
  const entries = bytes === 0 ? undefined : new LRUCache<string, CacheEntry<Request>>(sizes);
  const doorkeeper = createDoorkeeper(rememberedKeys);
  const sharing = new Map<string, Promise<Reply>>();
  /** The tip last asked about. */
  let current: string | undefined;
  /** The tip prepared last, until somebody asks about it. */
  let next: string | undefined;

  const hold = (entry: CacheEntry<Request>): void => {
    const { key, kept, prepared } = entry;
    // The size of an entry that is there already cannot be changed.
    entries?.delete(key);
    entries?.set(key, entry, { size: 8 * key.length + parsedSize + (kept?.reply.size ?? 0) + (prepared?.reply.size ?? 0) });
  };

  const moveTo = (tip: string): void => {
    next = undefined;
    current = tip;
  };

  const askedAt = function* (tip: string): Iterable<CacheEntry<Request>> {
    // A copy: entries are moved while they are prepared.
    for (const entry of [...(entries?.values() ?? [])]) {
      if (entry.askedAt === tip && !entry.slow) yield entry;
    }
  };

  return {
    get size() {
      return entries?.calculatedSize ?? 0;
    },
    find: (key) => entries?.get(key),
    admit: (key, request) => {
      if (entries === undefined || !doorkeeper(key)) return undefined;
      const entry: CacheEntry<Request> = { key, request, slow: false, askedAt: undefined, kept: undefined, prepared: undefined };
      hold(entry);
      return entry;
    },
    replyAt: (entry, tip) => {
      if (tip !== current) moveTo(tip);
      entry.askedAt = tip;
      if (entry.kept?.tip === tip) return entry.kept.reply;
      if (entry.prepared?.tip !== tip) return undefined;
      entry.kept = entry.prepared;
      entry.prepared = undefined;
      return entry.kept.reply;
    },
    keep: (entry, tip, reply) => {
      if (tip === next) entry.prepared = { tip, reply };
      else entry.kept = { tip, reply };
      hold(entry);
    },
    pending: (key, tip) => (sharing.size === 0 ? undefined : sharing.get(sharedKey(key, tip))),
    share: (key, tip, reply) => {
      const name = sharedKey(key, tip);
      const forget = (): void => void sharing.delete(name);
      sharing.set(name, reply);
      reply.then(forget, forget);
    },
    prepare: (tip) => {
      const isIdle = next !== undefined;
      next = tip;
      return isIdle || current === undefined ? [] : askedAt(current);
    },
  };
};

const hashOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  // mixed, because the low bits choose the place and must depend on all characters equally
  return Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
};

/**
 * Tells whether a text came before, not long ago, and remembers it (TinyLFU's doorkeeper). A table of hashes, four bytes each, in which a
 * text overwrites whatever was in its place: two texts with one hash are taken for the same, very rarely. `places`: a power of two.
 */
const createDoorkeeper = (places: number): ((text: string) => boolean) => {
  const hashes = new Int32Array(places);
  return (text) => {
    const hash = hashOf(text);
    const place = hash & (places - 1);
    const isRepeated = hashes[place] === hash;
    hashes[place] = hash;
    return isRepeated;
  };
};

interface PrewarmNeeds<Request, State extends Scope> {
  cache: ResponseCache<Request>;
  ask(request: Request, state: State): MaybePromise<unknown>;
  write(request: Request, answer: unknown, state: State): Reply;
  release(state: State): void;
  /** Milliseconds of work for which a new state may be held back. */
  longest: number;
}

/**
 * Makes the function that computes, from a state that is about to become current, the replies that were asked for at the last one, and
 * releases the state. It resolves when that is done or its time is up.
 */
export const createPrewarm = <Request, State extends Scope>({ cache, ask, write, release, longest }: PrewarmNeeds<Request, State>) => {
  /** A pending answer is not waited for, and an error is left to the next request. */
  const prewarmOne = function* (entry: CacheEntry<Request>, state: State, tip: string, slow: Promise<void>[]): Sliced<void> {
    const { request, key } = entry;
    const keep = (reply: Reply): void => cache.keep(entry, tip, reply);
    try {
      const answer = ask(request, state);
      if (isPromised(answer)) {
        const reply = Promise.resolve(answer).then((late) => write(request, late, state));
        cache.share(key, tip, reply);
        slow.push(reply.then(keep, () => undefined));
        return;
      }
      yield;
      keep(write(request, answer, state));
    } catch {
      // as above
    }
  };

  const prewarmAll = function* (state: State, tip: string, slow: Promise<void>[]): Sliced<void> {
    for (const entry of cache.prepare(tip)) {
      yield* prewarmOne(entry, state, tip, slow);
      yield;
    }
  };

  return async (state: State): Promise<void> => {
    const slow: Promise<void>[] = [];
    try {
      if (state.tip !== undefined) {
        await runSliced(atMost(longest, prewarmAll(state, state.tip.id, slow)));
      }
    } finally {
      void Promise.all(slow).then(() => release(state));
    }
  };
};
