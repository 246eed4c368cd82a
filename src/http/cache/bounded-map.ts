/** A map bounded by size in bytes. Least recently used entries go first; an entry larger than half of the bound is not held. */
export interface BoundedMap<Value> {
  get(key: string): Value | undefined;
  /** `size` in bytes, key included. */
  set(key: string, value: Value, size: number): void;
  /** In no particular order; may include values that were replaced recently. */
  values(): Value[];
}

interface Held<Value> {
  value: Value;
  size: number;
}

/**
 * Two maps: when the young one would exceed half of the bytes, it becomes the old one, and the previous old one is dropped. A hit in
 * the old map moves the entry to the young one; a hit in the young one costs a single lookup and changes nothing.
 */
export const createBoundedMap = <Value>(bytes: number): BoundedMap<Value> => {
  let young = new Map<string, Held<Value>>();
  let old = new Map<string, Held<Value>>();
  let youngSize = 0;
  const hold = (key: string, held: Held<Value>): void => {
    if (youngSize + held.size > bytes / 2) {
      old = young;
      young = new Map();
      youngSize = 0;
    }
    youngSize += held.size - (young.get(key)?.size ?? 0);
    young.set(key, held);
  };
  return {
    get: (key) => {
      const held = young.get(key);
      if (held !== undefined) {
        return held.value;
      }
      const aged = old.get(key);
      if (aged !== undefined) {
        old.delete(key);
        hold(key, aged);
      }
      return aged?.value;
    },
    set: (key, value, size) => {
      if (size <= bytes / 2) {
        old.delete(key);
        hold(key, { value, size });
      }
    },
    values: () => [...young.values(), ...old.values()].map(({ value }) => value),
  };
};
