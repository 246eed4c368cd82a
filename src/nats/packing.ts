/** Characters of one message: a server takes a megabyte, if nothing else was said. */
const mostText = 262_144;

export interface PackingNeeds<Item> {
  /** In one message, at the most. */
  most: number;
  /** Characters. */
  lengthOf(item: Item): number;
  /** Rejects if the message does not arrive. */
  put(items: readonly Item[]): Promise<void>;
  /** Called with what has not arrived. */
  lost?(items: readonly Item[]): void;
}

export interface Packing<Item> {
  /** Gives an item to be put into a message with others. */
  add(item: Item): void;
  /** Sends what waits for others, or for a message that is on its way. */
  sendAll(): void;
}

/**
 * Puts items into as few messages as may be without having any wait for long: as Nagle's algorithm does, those that come while a message is on its way
 * go together once it has arrived, or as soon as they are `most`.
 */
export const createPacking = <Item>({ most, lengthOf, put, lost = () => undefined }: PackingNeeds<Item>): Packing<Item> => {
  let packed: Item[] = [];
  let length = 0;
  let onTheirWay = 0;

  const takeAll = (): Item[] => {
    const all = packed;
    [packed, length] = [[], 0];
    return all;
  };

  const send = (): void => {
    if (packed.length === 0) return;
    const items = takeAll();
    onTheirWay++;
    put(items)
      // What waited for it would not arrive either.
      .catch(() => lost([...items, ...takeAll()]))
      .finally(() => {
        onTheirWay--;
        send();
      });
  };

  return {
    add: (item) => {
      const added = lengthOf(item);
      if (length + added > mostText) send();
      if (packed.length === 0 && onTheirWay === 0) setImmediate(send);
      packed.push(item);
      length += added;
      if (packed.length >= most) send();
    },
    sendAll: send,
  };
};
