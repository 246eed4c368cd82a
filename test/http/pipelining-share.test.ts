import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { turnOf } from "../../src/http/hosts/pipelining.js";

describe("requests behind others on many connections", () => {
  it("go on a few in each round of the event loop, though their turn comes at the same moment", async () => {
    let gone = 0;
    const connections = Array.from({ length: 40 }, () => {
      const socket = new Socket();
      const before = new ServerResponse(new IncomingMessage(socket));
      before.assignSocket(socket);
      const request = new IncomingMessage(socket);
      const response = new ServerResponse(request);
      const turn = Promise.resolve(turnOf(request, response)).then((is) => {
        expect(is).to.equal(true);
        gone++;
      });
      return { socket, before, response, turn };
    });
    for (const { socket, before, response } of connections) {
      before.detachSocket(socket);
      response.assignSocket(socket);
    }
    const rounds: number[] = [];
    for (let round = 0; gone < connections.length; round++) {
      const earlier = gone;
      await nextTurn();
      rounds.push(gone - earlier);
      expect(round).to.be.below(40);
    }
    await Promise.all(connections.map(({ turn }) => turn));
    expect(Math.max(...rounds)).to.equal(16);
    expect(rounds.filter((count) => count > 0)).to.deep.equal([16, 16, 8]);
  });
});
