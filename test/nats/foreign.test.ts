import { connect } from "@nats-io/transport-node";
import { expect } from "chai";
import { natsDispatch, startDeliveryWorker } from "../../src/nats/index.js";
import type { DeliveryAnswer } from "../../types/webhooks.js";
import { type Bundle, bundleIn, bundleText, type Result, resultsIn, resultsText, resultText, signIn } from "../../src/nats/delivery-messages.js";
import { onlyWhere } from "../fixtures/installed.js";
import { atEnd, closeAll, startServer, until } from "../replica/machines.js";
import { hasNats, NatsServer } from "./nats-server.js";

const answer: DeliveryAnswer = { status: 204, retryAfter: undefined, date: undefined, body: "", failure: null };
const request = { target: "http://127.0.0.1:1/", headers: { a: "b" }, body: '{"text":"\\n"}' };
const bundle: Bundle = { id: "1", results: "portico.results.1", deadline: 9e15, timeout: 1_000, responseLimit: 100, requests: [request, { ...request, body: "" }, { ...request, body: "Käse 😀" }] };

/** What may come on any of the subjects. */
const nothing = ["", "{", "null", "5", '"text"', "[]", "[null]", "{}", "\n", "{}\n", "null\n{}"];
const head = { target: "http://127.0.0.1:1/", headers: { a: "b" }, length: 2 };
const withHeads = (requests: unknown, bodies: string, change: object = {}): string => `${JSON.stringify({ ...bundle, ...change, requests })}\n${bodies}`;
const foreignBundles = [
  ...[{ id: 1 }, { results: "" }, { results: 5 }, { deadline: "soon" }, { timeout: null }, { responseLimit: undefined }].map((change) => withHeads([head], "{}", change)),
  ...[null, [null], ["1"], [{ ...head, target: undefined }], [{ ...head, headers: null }], [{ ...head, headers: { a: 1 } }], [{ ...head, length: "2" }], [{ ...head, length: 1.5 }]].map((heads) => withHeads(heads, "{}")),
  ...[[{ ...head, length: -1 }, { ...head, length: 3 }], [{ ...head, length: 3 }], [{ ...head, length: 1 }]].map((heads) => withHeads(heads, "{}")),
];
const foreignResults = [
  ...[null, "1", {}, { bundle: 1 }, { bundle: "1", at: 0 }, { bundle: "1", at: "0", answer }, { bundle: "1", at: -1, answer }],
  ...[{ status: "204" }, { status: undefined }, { body: null }, { retryAfter: 5 }, { date: {} }, { failure: {} }, { failure: { stage: "dns", error: 1 } }].map((change) => ({ bundle: "1", at: 0, answer: { ...answer, ...change } })),
];
const failedAnswer: DeliveryAnswer = { status: 503, retryAfter: "5", date: "Thu, 01 Jan 2026 00:00:00 GMT", body: "no", failure: { stage: "status", error: "The target answered 503." } };

describe("A message of another version, or of somebody else", () => {
  it("is no bundle of requests where anything in it is not as it is to be", () => {
    expect(bundleIn(bundleText(bundle))).to.deep.equal(bundle);
    expect(bundleIn(withHeads([head], "{}"))).to.deep.equal({ ...bundle, requests: [{ target: head.target, headers: head.headers, body: "{}" }] });
    for (const text of [...nothing, ...foreignBundles]) expect(bundleIn(text), text).to.equal(undefined);
  });

  it("is a result as far as it is understood", () => {
    const results: Result[] = [{ bundle: "1" }, { bundle: "1", at: 0, answer }, { bundle: "2", at: 15, answer: failedAnswer }];
    expect(resultsIn(resultsText(results.map(resultText)))).to.deep.equal(results);
    expect(resultsIn(JSON.stringify({ results: [...foreignResults, ...results] }))).to.deep.equal(results);
    for (const text of [...nothing, '{"results":5}', '{"results":{}}']) expect(resultsIn(text), text).to.deep.equal([]);
  });

  it("is no sign of a worker", () => {
    expect(signIn('{"worker":"1","leaves":false,"more":1}')).to.deep.equal({ worker: "1", leaves: false });
    for (const text of [...nothing, '{"worker":1,"leaves":false}', '{"worker":"1"}', '{"worker":"1","leaves":"no"}']) expect(signIn(text), text).to.equal(undefined);
  });
});

describe("Messages of other versions, or of somebody else, on a server that a node and a worker share", function () {
  this.timeout(60_000);
  afterEach(closeAll);

  onlyWhere(hasNats, "nats-server is not installed: foreign messages are not tested over NATS");

  it("keep neither from understanding the other", async () => {
    const server = await new NatsServer().start();
    const target = await startServer((request, response) => void request.resume().on("end", () => response.writeHead(204).end()));
    const dispatch = natsDispatch({ servers: server.url });
    atEnd(() => dispatch.close());
    const worker = startDeliveryWorker({ servers: server.url }, { allowTargets: ["127.0.0.0/8"] });
    atEnd(() => worker.stop());
    await until("the worker", () => dispatch.workers() === 1);
    const stranger = await connect({ servers: server.url });
    atEnd(() => stranger.close());
    let results = "";
    stranger.subscribe("portico.results.*", { callback: (_, { subject }) => void (results = subject) });
    await stranger.flush();
    const send = (): Promise<DeliveryAnswer> =>
      dispatch.send({ target: `${target.url}/`, headers: {}, body: "{}" }, () => Promise.reject(new Error("the node was to send it itself")), new AbortController().signal);
    expect((await send()).status).to.equal(204);
    await until("the subject of results", () => results !== "");
    for (const text of [...nothing, ...foreignBundles, JSON.stringify({ results: foreignResults })]) {
      for (const subject of [results, "portico.workers.2", "portico.deliveries.2"]) stranger.publish(subject, text);
    }
    await stranger.flush();
    const answers = await Promise.all(Array.from({ length: 100 }, send));
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([204]));
    expect(dispatch.counts()).to.deep.equal({ answered: 101, repeated: 0, here: 0 });
    expect([worker.sent(), dispatch.workers()]).to.deep.equal([101, 1]);
  });
});
