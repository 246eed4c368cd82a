import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { createPacking, type Packing } from "../../src/nats/packing.js";

describe("texts packed into messages", () => {
  let messages: string[];
  /** Ends what is on its way: the first, then the next. */
  let arrivals: { arrived(): void; lost(error: Error): void }[];
  let failed: string[];
  let packing: Packing<string>;
  const give = (...texts: string[]): void => texts.forEach((text) => packing.add(text));
  const arrive = async (): Promise<void> => {
    arrivals.shift()?.arrived();
    await nextTurn();
  };

  beforeEach(() => {
    [messages, arrivals, failed] = [[], [], []];
    packing = createPacking({
      most: 4,
      lengthOf: (text) => text.length,
      put: (texts) => {
        messages.push(texts.map((text) => text.slice(0, 1)).join(""));
        return new Promise((arrived, lost) => arrivals.push({ arrived, lost }));
      },
      lost: (texts) => void failed.push(...texts),
    });
  });

  it("go at once where none is on its way, with those of the same turn", async () => {
    give("a", "b");
    expect(messages).to.deep.equal([]);
    await nextTurn();
    expect(messages).to.deep.equal(["ab"]);
  });

  it("wait together while one is on its way, but not when they are enough", async () => {
    give("a");
    await nextTurn();
    give("b");
    await nextTurn();
    give("c");
    await nextTurn();
    expect(messages).to.deep.equal(["a"]);
    await arrive();
    expect(messages).to.deep.equal(["a", "bc"]);
    give("d", "e", "f", "g", "h");
    expect(messages).to.deep.equal(["a", "bc", "defg"]);
    await arrive();
    expect(messages).to.deep.equal(["a", "bc", "defg", "h"]);
  });

  it("go without waiting for anything when all are to be sent", async () => {
    give("a");
    await nextTurn();
    give("b", "c");
    packing.sendAll();
    packing.sendAll();
    expect(messages).to.deep.equal(["a", "bc"]);
  });

  it("are in one message no more than a server takes", async () => {
    give("a".repeat(200_000), "b".repeat(60_000), "c".repeat(60_000));
    await nextTurn();
    await arrive();
    expect(messages).to.deep.equal(["ab", "c"]);
  });

  it("are lost with their message, and with one that they waited for", async () => {
    give("a");
    await nextTurn();
    give("b");
    arrivals.shift()?.lost(new Error("no server"));
    await nextTurn();
    expect(failed).to.deep.equal(["a", "b"]);
    give("c");
    await nextTurn();
    expect(messages).to.deep.equal(["a", "c"]);
  });
});
