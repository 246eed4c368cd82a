import { readFileSync } from "node:fs";
import { expect } from "chai";
import { baseline, breaksOf, type Document, servedDocument } from "./openapi.js";

/** A document, or a part of one, to be changed. */
type Changeable = { [name: string]: Changeable } & { parameters: object[]; required: string[]; enum: string[]; $ref?: string };

const read = (): Document => JSON.parse(readFileSync(baseline, "utf8")) as Document;

/** The part of the document that the changes are made in. */
const some = (document: Document): Document => {
  const keep = (section: unknown, pattern: RegExp): Document =>
    Object.fromEntries(Object.entries(section as Document).filter(([name]) => pattern.test(name)));
  return { ...document, paths: keep(document.paths, /\/(?:wallets|wallets\/search|webhooks)$/), webhooks: keep(document.webhooks, /^block\.applied$/) };
};

const path = Object.keys(read().paths as object).find((name) => name.endsWith("/wallets")) ?? "";
const webhooks = path.replace("wallets", "webhooks");

/** The schema of a webhook's draft. */
const draftOf = ({ paths, components }: Changeable): Changeable | undefined => {
  const schema = paths?.[webhooks]?.post?.requestBody?.content?.["application/json"]?.schema;
  return components?.schemas?.[schema?.$ref?.replace(/^.*\//, "") ?? ""] ?? schema;
};

const wallets = ({ paths }: Changeable): Changeable | undefined => paths?.[path]?.get;
const wallet = ({ components }: Changeable): Changeable | undefined => components?.schemas?.Wallet;
const own = { name: "own", in: "query", schema: {} };

/** What is changed, and the line that says what it breaks; none where it breaks nothing. */
const changes: Record<string, [(document: Changeable) => void, string?]> = {
  "an operation that is gone": [({ paths }) => delete paths?.[path]?.get, `GET ${path} is gone`],
  "a parameter that is gone": [(document) => wallets(document)?.parameters.shift(), `GET ${path} no longer takes query page`],
  "a parameter that is needed": [(document) => wallets(document)?.parameters.push({ ...own, required: true }), `GET ${path} now needs query own`],
  "a parameter that may be left out": [(document) => wallets(document)?.parameters.push(own)],
  "a member of a reply that is gone": [
    (document) => delete wallet(document)?.properties?.address,
    `GET ${path} no longer has 200 application/json.data[].address`,
  ],
  "a member of a reply that may be missing": [
    (document) => wallet(document)?.required.splice(0, 1),
    `GET ${path} may lack 200 application/json.data[].address`,
  ],
  "a member of a reply with another type": [
    (document) => Object.assign(wallet(document)?.properties?.address ?? {}, { type: "integer" }),
    `GET ${path} has integer for 200 application/json.data[].address`,
  ],
  "a further member of a reply": [(document) => Object.assign(wallet(document)?.properties ?? {}, { own: { type: "string" } })],
  "a member of a body that is needed": [
    (document) => draftOf(document)?.required.push("description"),
    `POST ${webhooks} now needs body application/json.description`,
  ],
  "a member of a body that is gone": [
    (document) => delete draftOf(document)?.properties?.tags,
    `POST ${webhooks} no longer takes body application/json.tags`,
  ],
  "a value that is no longer taken": [
    (document) => draftOf(document)?.properties?.match?.enum.shift(),
    `POST ${webhooks} no longer takes "any" for body application/json.match`,
  ],
  "a webhook that is gone": [({ webhooks: sent }) => delete sent?.["block.applied"], "webhook POST block.applied is gone"],
};

describe("the OpenAPI document", () => {
  it("takes nothing from clients of the last release (if that is meant: `npm run docs:openapi`)", async () => {
    expect(breaksOf(read(), await servedDocument())).to.deep.equal([]);
  });

  for (const [what, [change, line]] of Object.entries(changes)) {
    it(`${line === undefined ? "may have" : "would be refused for"} ${what}`, () => {
      const [before, after] = [some(read()), some(read())];
      change(after as unknown as Changeable);
      expect(after).to.not.deep.equal(before);
      const found = breaksOf(before, after);
      if (line === undefined) expect(found).to.deep.equal([]);
      else expect(found).to.include(line);
    });
  }
});
