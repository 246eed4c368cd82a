import express from "express";
import { expect } from "chai";
import { ask } from "./ask.js";
import { listening } from "./listening.js";
import { type Served, serveThings } from "./things.js";

/** The page at `path`, and what it links to, as a browser would resolve that. */
const linksOf = async (port: number, path: string): Promise<{ policy: string; links: string[] }> => {
  const { status, text, headers } = await ask(port, path);
  expect([status, headers["content-type"]]).to.deep.equal([200, "text/html; charset=utf-8"]);
  const links = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = ""]) => link).filter((link) => !link.startsWith("data:"));
  return { policy: String(headers["content-security-policy"]), links: links.map((link) => new URL(link, `http://host${path}`).pathname) };
};

describe("the page of the docs", () => {
  const served = new Map<string, Served>();
  before(async () => {
    for (const basePath of ["/api", "", "/node/public/api"]) served.set(basePath, await serveThings({ basePath }));
  });
  after(() => Promise.all([...served.values()].map(({ stop }) => stop())));

  for (const basePath of ["/api", "", "/node/public/api"]) {
    it(`finds all of its parts below ${basePath === "" ? "the root" : basePath}`, async () => {
      const { port } = served.get(basePath) ?? expect.fail();
      for (const path of ["/docs", "/v2/docs", "/strings/docs"]) {
        const { links } = await linksOf(port, basePath + path);
        expect(links).to.have.length(7);
        for (const link of links) {
          const { status, headers, bytes } = await ask(port, link, { headers: { "Accept-Encoding": "br" } });
          expect(status, link).to.equal(200);
          expect(headers["content-type"], link).to.match(link.endsWith(".css") ? /^text\/css/ : link.endsWith(".js") ? /^text\/javascript/ : link.endsWith("/docs") ? /^text\/html/ : /^application\/json/);
          expect(bytes.length, link).to.be.above(20);
        }
      }
    });
  }

  it("may run and load nothing but its own files", async () => {
    const { policy } = await linksOf(served.get("/api")?.port ?? 0, "/api/docs");
    expect(policy).to.include("default-src 'none';script-src 'self';style-src 'self'").and.to.not.match(/unsafe|\*|https?:/);
  });

  it("works where a framework mounts the listener at a path", async () => {
    const app = express();
    app.use("/prefix", served.get("/api")?.edge.callback() ?? expect.fail());
    await listening(app, async (port) => {
      const { links } = await linksOf(port, "/prefix/api/docs");
      expect(links).to.include("/prefix/api/docs/page.js");
      for (const link of links) expect((await ask(port, link)).status, link).to.equal(200);
    });
  });

  it("has no other files, and sends those it has once", async () => {
    const { port } = served.get("/api") ?? expect.fail();
    for (const name of ["package.json", "..%2Fpage.ts", "constructor", "swagger-ui-bundle.js.map"]) expect((await ask(port, `/api/docs/${name}`)).status, name).to.equal(404);
    const { headers } = await ask(port, "/api/docs/swagger-ui-bundle.js");
    expect(headers).to.include({ "cache-control": "no-cache", "accept-ranges": "bytes" });
    const again = await ask(port, "/api/docs/swagger-ui-bundle.js", { headers: { "If-None-Match": String(headers.etag) } });
    expect(again.status).to.equal(304);
  });
});
