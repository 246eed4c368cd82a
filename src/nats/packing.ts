/** Characters of one message: a server takes a megabyte, if nothing else was said. */
const mostText = 262_144;

export interface Packing {
  /** Gives a text to be put into a message with others. `failed` is called if the message does not arrive. */
  add(text: string, failed?: () => void): void;
  /** Sends what waits for others, or for a message that is on its way. */
  sendAll(): void;
}

/**
 * Puts texts into as few messages as may be without having any wait for long: as Nagle's algorithm does, those that come while a message is on its way
 * go together once it has arrived, or as soon as they are `most`.
 */
export const createPacking = (most: number, put: (texts: readonly string[]) => Promise<void>): Packing => {
  let packed: { texts: string[]; length: number; failed: (() => void)[] } = { texts: [], length: 0, failed: [] };
  let onTheirWay = 0;

  const takeAll = (): typeof packed => {
    const all = packed;
    packed = { texts: [], length: 0, failed: [] };
    return all;
  };

  const send = (): void => {
    if (packed.texts.length === 0) return;
    const { texts, failed } = takeAll();
    onTheirWay++;
    put(texts)
      // What waited for it would not arrive either.
      .catch(() => [...failed, ...takeAll().failed].forEach((fail) => fail()))
      .finally(() => {
        onTheirWay--;
        send();
      });
  };

  return {
    add: (text, failed = () => undefined) => {
      if (packed.length + text.length > mostText) send();
      if (packed.texts.length === 0 && onTheirWay === 0) setImmediate(send);
      packed.texts.push(text);
      packed.length += text.length;
      packed.failed.push(failed);
      if (packed.texts.length >= most) send();
    },
    sendAll: send,
  };
};
