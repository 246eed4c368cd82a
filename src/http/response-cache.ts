import { LRUCache } from "lru-cache";
import type { Reply } from "./reply/reply.js";

/** A request that was made more than once, and the replies kept for it. */
export interface CacheEntry<Request> {
  readonly key: string;
  readonly request: Request;
  kept: Kept | undefined;
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

  const hold = (entry: CacheEntry<Request>): void => {
    const { key, kept } = entry;
    // The size of an entry that is there already cannot be changed.
    entries?.delete(key);
    entries?.set(key, entry, { size: 8 * key.length + parsedSize + (kept?.reply.size ?? 0) });
  };

  return {
    get size() {
      return entries?.calculatedSize ?? 0;
    },
    find: (key) => entries?.get(key),
    admit: (key, request) => {
      if (entries === undefined || !doorkeeper(key)) return undefined;
      const entry: CacheEntry<Request> = { key, request, kept: undefined };
      hold(entry);
      return entry;
    },
    replyAt: ({ kept }, tip) => (kept?.tip === tip ? kept.reply : undefined),
    keep: (entry, tip, reply) => {
      entry.kept = { tip, reply };
      hold(entry);
    },
    pending: (key, tip) => (sharing.size === 0 ? undefined : sharing.get(sharedKey(key, tip))),
    share: (key, tip, reply) => {
      const name = sharedKey(key, tip);
      const forget = (): void => void sharing.delete(name);
      sharing.set(name, reply);
      reply.then(forget, forget);
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
