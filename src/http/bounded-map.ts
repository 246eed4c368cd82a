/** A map of at most so many bytes. What was not used lately goes first; what is larger than half of the bytes is not held. */
export interface BoundedMap<Value> {
  get(key: string): Value | undefined;
  /** `size` in bytes, key included. */
  set(key: string, value: Value, size: number): void;
  /** In no order; one that was replaced lately may be among them. */
  values(): Value[];
}

interface Held<Value> {
  value: Value;
  size: number;
}

/**
 * Two maps: when the young one holds half of the bytes it becomes the old one, and the old one goes. What is asked for in the old
 * one moves to the young one. A hit in the young one costs one lookup and changes nothing.
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
