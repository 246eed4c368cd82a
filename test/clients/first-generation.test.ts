import { expect } from "chai";
import { asSent } from "./as-sent.js";
import type { Call } from "./calls.js";
import { type Client, firstClient } from "./clients.js";
import { firstCallsOf } from "./first-calls.js";
import { type RunningNode, runningNode } from "./running-node.js";

for (const amounts of ["number", "string"] as const) {
  describe(`client 0.1.25, generation 1, when the second generation has amounts as ${amounts}s`, () => {
    const of = firstClient(1);
    let node: RunningNode;
    let client: Client;
    let calls: Record<string, Call[]>;
    before(async () => {
      node = await runningNode({ amounts });
      client = of.connect(node.origin);
      calls = firstCallsOf(node);
    });

    for (const [resource, methods] of Object.entries(of.methods)) {
      for (const method of methods) {
        const name = `${resource}.${method}`;
        it(`gets the chain's data with ${name}`, async () => {
          expect(calls[name] ?? [], "calls").to.not.be.empty;
          for (const { args, body } of calls[name] ?? []) {
            const answer = await client.call(resource, method, args);
            expect(answer.body, `${name}(${JSON.stringify(args)})`).to.deep.equal(asSent("number", body));
            expect(answer.status).to.equal(200);
          }
        });
      }
    }
  });
}
