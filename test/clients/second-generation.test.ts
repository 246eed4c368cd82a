import { expect } from "chai";
import { spread } from "../fixtures/long.js";
import { asSent } from "./as-sent.js";
import { type Call, callsOf } from "./calls.js";
import { type Client, type ClientPackage, secondGenerationClients } from "./clients.js";
import { type RunningNode, runningNode } from "./running-node.js";

/** Methods that have tests of their own because they change something. */
const toldElsewhere = ["transactions.create", "webhooks.all", "webhooks.create", "webhooks.get", "webhooks.update", "webhooks.delete"];

/** The calls, and what is right for them, by the form of amounts. */
const known = new Map<string, Record<string, Call[]>>();

const describeClient = (of: ClientPackage, amounts: "number" | "string"): void => {
  describe(`${of.name}, amounts as ${amounts}s`, () => {
    let node: RunningNode;
    let client: Client;
    let calls: Record<string, Call[]>;
    before(async () => {
      node = await runningNode({ amounts });
      client = of.connect(node.origin);
      calls = known.get(amounts) ?? callsOf(node);
      known.set(amounts, calls);
    });

    for (const [resource, methods] of Object.entries(of.methods)) {
      for (const method of methods) {
        const name = `${resource}.${method}`;
        if (toldElsewhere.includes(name)) continue;
        it(`gets the chain's data with ${name}`, async () => {
          const possible = (calls[name] ?? []).filter(({ withQuery = false }) => !withQuery || of.searchesTakeQuery);
          expect(possible, "calls").to.not.be.empty;
          for (const { args, status = 200, body, check } of possible) {
            const answer = await client.call(resource, method, args);
            const what = `${name}(${JSON.stringify(args)})`;
            if (check === undefined) expect(answer.body, what).to.deep.equal(asSent(amounts, body));
            else check(answer.body);
            expect(answer.status, what).to.equal(status);
          }
        });
      }
    }
  });
};

describe("deployed clients of the second generation", () => {
  for (const of of secondGenerationClients) describeClient(of, "number");
  // The form does not depend on the client.
  for (const of of spread(secondGenerationClients, 2)) describeClient(of, "string");
});
