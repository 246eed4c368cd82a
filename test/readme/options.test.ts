import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { lakeDefaults, optionTable, webhookOptionTable } from "../../src/options/options.js";
import { type OptionDoc, optionDocs, readDefault } from "./options.js";

const docs = optionDocs();

const unit =
  /millisecond|second|byte|height|cursor|version|(?:block|request|connection|stream|attempt|deliver|webhook|snapshot|retr|delegate|server|time)(?:s|y|ies)?\b/i;

const faultsOf = ({ name, isOptional, isNumber, text, default: given }: OptionDoc): string[] => [
  ...(/^[A-Z`].*[.!]$/.test(text) ? [] : [`${name} has no sentence`]),
  ...(isOptional && (given ?? "") === "" ? [`${name} says no default (\`@default none\` where there is none)`] : []),
  ...(!isOptional && given !== undefined ? [`${name} is required, and has a default`] : []),
  ...(isNumber && !unit.test(text) ? [`${name} has no unit`] : []),
];

/** The defaults that docstrings give as values, by name. */
const saidDefaults = (type: string): Record<string, unknown> =>
  Object.fromEntries(
    (docs[type] ?? []).flatMap(({ name, default: given = "" }) => {
      const { json } = readDefault(given);
      return json === undefined ? [] : [[name, JSON.parse(json) as unknown]];
    }),
  );

const trueDefaults = (table: Readonly<Record<string, { default: unknown }>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(table).map(([name, row]) => [name, row.default]));

describe("the docstrings of options", () => {
  it("are those of everything that an entry point takes", () => {
    const own = ["PorticoOptions", "WebhookOptions", "LakeOptions", "NodeContext", "ReaderContext", "FollowNodeOptions", "VerifyOptions"];
    const libraries = ["ClientOptions", "CallOptions", "RequestOptions", "FollowOptions", "ChangesOptions", "WithProof", "RunFollowerOptions", "StoreOptions"];
    expect(docs).to.include.all.keys(...own, ...libraries, "ReceiverOptions", "InboxOptions", "ProofOptions", "NatsOptions");
    expect(Object.entries(docs).filter(([, members]) => members.length === 0)).to.deep.equal([]);
  });

  for (const [type, members] of Object.entries(docs)) {
    it(`say what each member of ${type} means, in which unit, and what holds without it`, () => {
      expect(members.flatMap(faultsOf)).to.deep.equal([]);
    });
  }

  it("give the defaults that the code has", () => {
    const { webhooks: _webhooks, finality: _finality, ...table } = optionTable;
    const { rateLimit, cors, compression } = table;
    const inner = { rateLimit: rateLimit.default, cors: cors.default, compression: compression.default };
    const members = Object.entries(inner).flatMap(([name, value]) =>
      Object.entries(value as object).map(([member, own]: [string, unknown]) => [`${name}.${member}`, own]),
    );
    expect(saidDefaults("PorticoOptions")).to.deep.equal({ ...trueDefaults(table), ...Object.fromEntries(members) });
    expect(saidDefaults("WebhookOptions")).to.deep.equal(trueDefaults(webhookOptionTable));
    expect(saidDefaults("LakeOptions")).to.deep.equal(lakeDefaults);
  });

  it("need no file that the package does not have", () => {
    const folder = new URL("../../types/", import.meta.url);
    const comments = readdirSync(folder).flatMap((file) => [...readFileSync(new URL(file, folder), "utf8").matchAll(/\/\*\*[^]*?\*\//g)].join("\n"));
    expect(comments.join("\n")).to.include("Milliseconds").and.not.match(/\b(?:src|test|types)\/[\w/-]+\.ts/);
  });
});
