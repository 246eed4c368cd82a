import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { createStreams } from "../../src/http/pipeline/streams.js";
import { silentLogger } from "../silent.js";

describe("large chunks of many streams", () => {
  it("are handed to their connections in their share of the event loop, and go on where there is room meanwhile", async () => {
    const { open } = createStreams({ logger: silentLogger, isStopping: () => false });
    const chunks = async function* (): AsyncGenerator<Buffer> {
      await nextTurn();
      for (let index = 0; index < 2; index++) yield Buffer.alloc(20_000);
    };
    let [inTurn, most, written, ended] = [0, 0, 0, 0];
    for (let index = 0; index < 40; index++) {
      const response = new ServerResponse(new IncomingMessage(new Socket()));
      const stream = open({ open: chunks, endless: false, patience: 60_000, keepsState: false, length: undefined }, response, () => undefined);
      const write = (): boolean => {
        for (const end = performance.now() + 1; performance.now() < end; );
        most = Math.max(most, ++inTurn);
        written++;
        // As a connection does that has taken everything at once.
        process.nextTick(() => stream.resume());
        return false;
      };
      stream.to({ write, end: () => void ended++ });
    }
    while (ended < 40) {
      inTurn = 0;
      await nextTurn();
    }
    expect(written).to.equal(80);
    // Of 40 that would like to, each of which takes a millisecond.
    expect(most).to.be.below(20);
  });
});
