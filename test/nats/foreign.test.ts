import { connect } from "@nats-io/transport-node";
import { expect } from "chai";
import { natsDispatch, startDeliveryWorker } from "../../src/nats/index.js";
import type { DeliveryAnswer } from "../../types/webhooks.js";
import { jobsIn, resultsIn, signIn } from "../../src/nats/delivery-messages.js";
import { onlyWhere } from "../fixtures/installed.js";
import { atEnd, closeAll, startServer, until } from "../replica/machines.js";
import { hasNats, NatsServer } from "./nats-server.js";

const answer: DeliveryAnswer = { status: 204, retryAfter: undefined, date: undefined, body: "", failure: null };
const job = { id: "1", target: "http://127.0.0.1:1/", headers: { a: "b" }, body: "{}" };
const jobs = { results: "portico.results.1", deadline: 9e15, timeout: 1_000, responseLimit: 100, jobs: [job] };

/** What may come on any of the subjects. */
const nothing = ["", "{", "null", "5", '"text"', "[]", "[null]", "{}"];
const foreignJobs = [
  ...[{ ...jobs, results: "" }, { ...jobs, results: 5 }, { ...jobs, deadline: "soon" }, { ...jobs, timeout: null }, { ...jobs, jobs: null }, { ...jobs, jobs: [null] }, { ...jobs, jobs: ["1"] }],
  ...[{ id: 1 }, { target: undefined }, { headers: null }, { headers: { a: 1 } }, { body: {} }].map((change) => ({ ...jobs, jobs: [job, { ...job, ...change }] })),
];
const foreignAnswers = [null, "1", {}, { id: "1" }, { id: 1, answer }, ...[{ status: "204" }, { status: undefined }, { body: null }, { retryAfter: 5 }, { date: {} }, { failure: undefined }, { failure: {} }, { failure: { stage: "dns", error: 1 } }].map((change) => ({ id: "1", answer: { ...answer, ...change } }))];

describe("A message of another version, or of somebody else", () => {
  it("is no job where anything in it is not as it is to be", () => {
    expect(jobsIn(JSON.stringify(jobs))).to.deep.equal(jobs);
    for (const text of [...nothing, ...foreignJobs.map((one) => JSON.stringify(one))]) expect(jobsIn(text), text).to.equal(undefined);
  });

  it("is a result as far as it is understood", () => {
    const failure = { id: "2", answer: { status: null, body: "", failure: { stage: "dns", error: "no such name" } } };
    expect(resultsIn(JSON.stringify({ begun: ["1", 2, null], answers: [...foreignAnswers, failure] }))).to.deep.equal({ begun: ["1"], answers: [failure] });
    for (const text of [...nothing, '{"begun":5,"answers":{}}']) expect(resultsIn(text), text).to.deep.equal({ begun: [], answers: [] });
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
    for (const text of [...nothing, ...foreignJobs.map((one) => JSON.stringify(one)), JSON.stringify({ begun: [null], answers: foreignAnswers })]) {
      for (const subject of [results, "portico.workers", "portico.deliveries"]) stranger.publish(subject, text);
    }
    await stranger.flush();
    const answers = await Promise.all(Array.from({ length: 100 }, send));
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([204]));
    expect(dispatch.counts()).to.deep.equal({ answered: 101, repeated: 0, here: 0 });
    expect([worker.sent(), dispatch.workers()]).to.deep.equal([101, 1]);
  });
});
