import { EventEmitter as NodeEmitter } from "node:events";
import { EventEmitter as FastEmitter } from "eventemitter3";
import { Utils } from "@arkecosystem/crypto";
import { expect } from "chai";
import { derivedEvents } from "../../src/follow/derive.js";
import { describeWebhookEvents } from "../../src/webhooks/engine.js";
import { knownEvents } from "../../src/follow/event-catalogue.js";
import { createReceiver, type Receiver } from "./receiver.js";
import { createStage, type Emitter, type Stage } from "./stage.js";

/** The events that the contract lists. */
const contract = [
  "block.applied",
  "block.forged",
  "block.reverted",
  "delegate.registered",
  "delegate.resigned",
  "forger.failed",
  "forger.missing",
  "forger.started",
  "peer.added",
  "peer.removed",
  "round.created",
  "state:started",
  "transaction.applied",
  "transaction.expired",
  "transaction.forged",
  "transaction.reverted",
  "wallet.saved",
  "wallet.created.cold",
];
/** Other events that hosts of this family emit. */
const beside = [
  "block.received",
  "block.disregarded",
  "round.applied",
  "transaction.pool.added",
  "transaction.pool.rejected",
  "transaction.pool.removed",
  "wallet.vote",
  "wallet.unvote",
];

/** A payload with amounts in the host's own number class. */
const hostForm = (example: unknown): unknown => {
  if (Array.isArray(example)) return example.map(hostForm);
  if (typeof example !== "object" || example === null) return example;
  return Object.fromEntries(
    Object.entries(example).map(([name, value]: [string, unknown]) => [
      name,
      ["amount", "fee", "balance", "totalAmount"].includes(name) && typeof value === "string" ? Utils.BigNumber.make(value) : hostForm(value),
    ]),
  );
};

/** The least that a host's emitter may offer. */
const createBareEmitter = (): Emitter => {
  const listeners = new Map<string, Set<(payload?: unknown) => void>>();
  return {
    on: (event, listener) => listeners.set(event, (listeners.get(event) ?? new Set()).add(listener)),
    off: (event, listener) => listeners.get(event)?.delete(listener),
    emit: (event, payload) => listeners.get(event)?.forEach((listener) => listener(payload)),
  };
};

describe("events of the host", () => {
  it("are those of the contract and others that hosts emit", () => {
    expect(Object.keys(knownEvents).sort()).to.deep.equal([...contract, ...beside, "state.started"].sort());
  });

  for (const [name, createEmitter] of [
    ["eventemitter3", () => new FastEmitter()],
    ["node's own", () => new NodeEmitter()],
    ["an emitter of on and off alone", createBareEmitter],
  ] as const) {
    describe(`from ${name}`, () => {
      let receiver: Receiver;
      let stage: Stage;
      before(async () => {
        receiver = await createReceiver();
        stage = await createStage({ events: ["fork.happened", "fork.happened"] }, { events: createEmitter() });
      });

      for (const event of [...contract, ...beside, "fork.happened"]) {
        it(`${event} arrives once, with the payload of its host`, async () => {
          const example = event === "fork.happened" ? { depth: 3 } : knownEvents[event as keyof typeof knownEvents].example;
          const { id } = stage.engine.create({ event, target: `${receiver.url}/${event}` });
          stage.events.emit(event, example === null ? undefined : hostForm(example));
          // A duplicate would arrive before this marker.
          const marker = stage.engine.create({ event: event === "peer.added" ? "peer.removed" : "peer.added", target: `${receiver.url}/${event}` });
          stage.events.emit(marker.event, "marker");
          await stage.engine.settled();
          const count = receiver.received.length;
          const arrived = async (): Promise<typeof receiver.received> => {
            for (let more = count; ; more++) {
              const all = (await receiver.until(more)).filter(({ path }) => path === `/${event}`);
              if (all.length >= 2) return all;
              await receiver.until(more + 1);
            }
          };
          expect((await arrived()).map(({ json }) => [json.event, json.data])).to.have.deep.members([
            [event, example],
            [marker.event, "marker"],
          ]);
          stage.engine.remove(id);
          stage.engine.remove(marker.id);
        });
      }

      it("state.started and state:started are one event, sent under the name that the webhook uses, or the canonical one to a pattern", async () => {
        stage.engine.create({ event: "state.started", target: `${receiver.url}/dot` });
        stage.engine.create({ event: "state:started", target: `${receiver.url}/colon` });
        stage.engine.create({ events: ["state.*"], target: `${receiver.url}/pattern` });
        const before = receiver.received.length;
        stage.events.emit("state:started");
        stage.events.emit("state.started");
        const received = (await receiver.until(before + 6)).slice(before);
        expect(received.map(({ path, json }) => `${path} ${json.event}`).sort()).to.deep.equal([
          "/colon state:started",
          "/colon state:started",
          "/dot state.started",
          "/dot state.started",
          "/pattern state:started",
          "/pattern state:started",
        ]);
      });
    });
  }

  it("are described with their source, including those that a node declares, and those about webhooks", () => {
    const describe = (keepsChain: boolean) => describeWebhookEvents(["fork.happened", "block.applied", "fork.happened"], keepsChain);
    expect(new Set(describe(false).map(({ source }) => source))).to.deep.equal(new Set(["host", "webhooks"]));
    const described = describe(true);
    expect(described.filter(({ source }) => source === "chain").map(({ event }) => event)).to.have.members([...derivedEvents]);
    expect(described.at(-5)).to.deep.equal({ event: "fork.happened", description: "An event that this node declares.", source: "host", confirmations: false, example: null });
    expect(described.filter(({ event }) => event === "block.applied" || event === "fork.happened")).to.have.length(2);
  });
});
