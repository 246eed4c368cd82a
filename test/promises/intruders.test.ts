import { expect } from "chai";
import type { BlockData } from "../../types/events.js";
import { startMovingNode, type MovingNode } from "../e2e/moving-node.js";
import { loadChain } from "../data/read.js";
import { parseRaw, sendRaw } from "../http/ask.js";

const { network, blocks } = loadChain("core3-testnet-a");
const token = "a token that only the operator has";
const origin = "https://explorer.example";
const target = "https://93.184.216.34/only-the-operator-knows";

/** Whoever wants in, and has no token. */
describe("someone without a token", () => {
  let node: MovingNode;
  let secret: string;
  let id: number;

  const json = { "content-type": "application/json" };
  const withToken = { authorization: token };
  const webhooks = async (): Promise<{ id: number; target: string }[]> => ((await node.get("/webhooks", { headers: withToken })).json as { data: { id: number; target: string }[] }).data;
  const raw = (bytes: string): Promise<string> => sendRaw(node.port, bytes);
  /** Every reply on a connection. */
  const statusesOf = (text: string): number[] => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
  const leaks = (text: string): boolean => text.includes(secret) || text.includes("only-the-operator-knows");

  before(async () => {
    node = await startMovingNode(network, blocks[0] as BlockData, { webhooks: { tokens: [token] }, cors: { origins: [origin] } });
    const created = (await node.get("/webhooks", { method: "POST", headers: { ...withToken, ...json }, body: JSON.stringify({ event: "block.applied", target }) })).json as { data: { id: number; secret: string } };
    ({ id, secret } = created.data);
  });
  afterEach("the webhook is as it was", async () => expect((await webhooks()).map((one) => [one.id, one.target])).to.deep.equal([[id, target]]));

  it("is refused with any token but the right one, in any form, and learns nothing from the reply", async () => {
    const replies = new Set<string>();
    const wrong = ["", " ", "x", token.slice(0, -1), `${token}x`, token.toUpperCase(), `Basic ${token}`, "Bearer", `Bearer ${token} ${token}`, `Bearer Bearer ${token}`, `${token},${token}`, `"${token}"`, encodeURIComponent(token), Buffer.from(token).toString("base64"), `Token ${token}`, "null", "undefined", "[object Object]", "a".repeat(8_000)];
    for (const authorization of [undefined, ...wrong]) {
      const { status, text } = await node.get(`/webhooks/${id}`, { headers: authorization === undefined ? {} : { authorization } });
      expect({ authorization, status }).to.deep.equal({ authorization, status: 401 });
      replies.add(text);
    }
    expect(replies.size).to.equal(1);
    expect((await node.get(`/webhooks/${id}`, { headers: { authorization: `bearer  ${token} ` } })).status).to.equal(200);
  });

  it("is refused although the right token comes after a wrong one, in a query, a cookie, a body or another header", async () => {
    const head = (lines: string): string => `GET /api/webhooks HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${lines}\r\n`;
    for (const lines of [`Authorization: wrong\r\nAuthorization: ${token}\r\n`, `Cookie: authorization=${token}\r\n`, `X-Authorization: ${token}\r\n`, `Proxy-Authorization: ${token}\r\n`, `X-Api-Key: ${token}\r\n`, `Connection: authorization\r\nAuthorization : ${token}\r\n`]) {
      const { status } = parseRaw(await raw(head(lines)));
      expect({ lines, status }).to.satisfy((found: { status: number }) => found.status === 401 || found.status === 400);
    }
    for (const name of ["token", "authorization", "Authorization", "access_token", "api_key"]) {
      expect({ name, status: (await node.get(`/webhooks?${name}=${encodeURIComponent(token)}`)).status }).to.deep.equal({ name, status: 401 });
    }
    expect((await node.post("/webhooks", { token, authorization: token, event: "block.applied", target })).status).to.equal(401);
  });

  it("cannot have one method taken for another", async () => {
    for (const [name, value] of [["x-http-method-override", "DELETE"], ["x-http-method", "DELETE"], ["x-method-override", "DELETE"]] as const) {
      for (const method of ["GET", "POST", "HEAD"]) {
        const { status } = await node.get(`/webhooks/${id}`, { method, headers: { [name]: value } });
        expect({ name, method, status }).to.satisfy((found: { status: number }) => [401, 404, 405].includes(found.status));
      }
      // With a token, too: it is what it says it is.
      expect((await node.get(`/webhooks/${id}`, { headers: { ...withToken, [name]: value } })).status).to.equal(200);
    }
    expect((await node.get(`/webhooks/${id}?_method=DELETE`, { headers: withToken })).status).to.be.oneOf([200, 400]);
    for (const method of ["TRACE", "CONNECT", "TRACK", "DEBUG", "delete", "PROPFIND"]) {
      const answer = await raw(`${method} /api/webhooks/${id} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
      expect({ method, status: statusesOf(answer)[0] ?? 0 }).to.satisfy((found: { status: number }) => found.status === 0 || found.status >= 400);
      expect(leaks(answer)).to.equal(false);
    }
  });

  it("gets nowhere by the spelling of a path", async () => {
    const paths = [
      ...["/api/webhooks/", "/api//webhooks", "/api/./webhooks", "/api/x/../webhooks", "/api/%77ebhooks", "/api/webhooks%2f", "/api/webhooks%00", "/api/webhooks;a=b", "/api/webhooks/.", "/api/WEBHOOKS", "/API/webhooks"],
      ...["/api/v2/webhooks", "/api/v1/webhooks", "/api/strings/webhooks", "/api/v2/v2/webhooks", "//api/webhooks", "//evil.example/api/webhooks/", "/api//evil.example/", "/api/webhooks?x=/docs", "/api/docs/../webhooks", "/api/docs%2f..%2fwebhooks", "/api/blocks/..%5cwebhooks", "/api/\\webhooks", "http://other.example/api/webhooks", "*"],
    ];
    for (const path of paths) {
      for (const rest of ["", `/${id}`, `/${id}/deliveries`]) {
        const answer = await raw(`GET ${path}${rest} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
        expect({ path: path + rest, status: statusesOf(answer)[0] ?? 0 }).to.satisfy((found: { status: number }) => [301, 400, 401, 404, 405].includes(found.status));
        // What is sent elsewhere is sent to this node.
        expect(/\r\nlocation: (.*)/i.exec(answer)?.[1] ?? "/api/").to.match(/^\/api\//);
        expect(leaks(answer), path).to.equal(false);
      }
    }
    // Nor out of the folders that are served.
    for (const folder of ["docs", "console", "lake", "lake/blocks", "lake/manifests"]) {
      for (const climb of ["../", "..%2f", "%2e%2e/", "%2e%2e%2f", "..%5c", "....//", "..%252f", "/"]) {
        for (const file of ["webhook-token", "chain.mdb", "package.json", "etc/passwd"]) {
          const answer = await raw(`GET /api/${folder}/${climb.repeat(4)}${file} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
          const [status = 0] = statusesOf(answer);
          expect({ folder, climb, file, status }).to.satisfy((found: { status: number }) => [301, 400, 404, 501].includes(found.status));
          expect(answer).not.to.match(/root:|"portico"/);
        }
      }
    }
  });

  it("is not let in by another origin's page", async () => {
    for (const other of ["https://evil.example", "null", `${origin}.evil.example`, "https://evil.example/https://explorer.example", origin.toUpperCase(), `${origin}:8443`, "http://explorer.example"]) {
      const preflight = await node.get("/webhooks", { method: "OPTIONS", headers: { origin: other, "access-control-request-method": "POST", "access-control-request-headers": "authorization" } });
      const read = await node.get("/blockchain", { headers: { origin: other } });
      for (const { headers } of [preflight, read]) {
        expect({ other, allowed: headers["access-control-allow-origin"] ?? null }).to.satisfy((found: { allowed: string | null }) => found.allowed === null || (found.allowed !== other && found.allowed !== "*"));
        expect(headers["access-control-allow-credentials"]).to.equal(undefined);
      }
    }
    const allowed = await node.get("/blockchain", { headers: { origin } });
    expect(allowed.headers["access-control-allow-origin"]).to.equal(origin);
    expect(allowed.headers["access-control-allow-credentials"]).to.equal(undefined);
  });

  it("cannot hide a request within another", async () => {
    const hidden = `DELETE /api/webhooks/${id} HTTP/1.1\r\nHost: a\r\nAuthorization: ${token}\r\n\r\n`;
    const size = hidden.length.toString(16);
    const forms: Record<string, string> = {
      "both lengths": `Content-Length: ${hidden.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
      "chunked after a length": `Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n${size}\r\n${hidden}\r\n0\r\n\r\n`,
      "two lengths": `Content-Length: 0\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
      "lengths in one line": `Content-Length: 0, ${hidden.length}\r\n\r\n${hidden}`,
      "a signed length": `Content-Length: +0\r\n\r\n${hidden}`,
      "a length that is no number": `Content-Length: 0x0\r\n\r\n${hidden}`,
      "a space before the colon": `Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${hidden}`,
      "an unknown coding": `Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${hidden}`,
      "a coding after chunked": `Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${hidden}`,
      "a folded header": `Transfer-Encoding:\r\n chunked\r\nContent-Length: 0\r\n\r\n${hidden}`,
      "a control character": `Transfer-Encoding: \u000bchunked\r\nContent-Length: 0\r\n\r\n${hidden}`,
      "a chunk's size in another form": `Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n${hidden}`,
      "a negative chunk": `Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n${hidden}`,
    };
    for (const [form, rest] of Object.entries(forms)) {
      const answer = await raw(`POST /api/delegates/search HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${rest}`);
      expect({ form, statuses: statusesOf(answer) }).to.satisfy((found: { statuses: number[] }) => found.statuses.length <= 1 && found.statuses.every((status) => status >= 400));
      expect((await webhooks()).length, form).to.equal(1);
    }
    for (const bytes of [`GET /api/blockchain HTTP/1.1\nHost: a\nX: y\n\n`, `GET /api/blockchain HTTP/1.1\r\nHost: a\r\nX: a\rDELETE: b\r\n\r\n`, `GET /api/blockchain HTTP/1.1\r\n\r\n`, `GET /api/blockchain HTTP/3.7\r\nHost: a\r\n\r\n`]) {
      const answer = await raw(bytes);
      expect({ bytes, statuses: statusesOf(answer) }).to.satisfy((found: { statuses: number[] }) => found.statuses.length <= 1);
      expect(leaks(answer)).to.equal(false);
    }
  });

  it("who has a token all the same has this node connect to no special address, however it is spelt", async () => {
    const numbers = ["http://127.1/", "http://2130706433/", "http://0x7f000001/", "http://017700000001/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://0/", "http://169.254.169.254/", "http://localhost/", "http://a.localhost./", "http://10.0.0.1/", "http://[fd00::1]/", "http://user:x@93.184.216.34/", "file:///etc/passwd", "gopher://93.184.216.34/"];
    for (const spelt of numbers) {
      const { status } = await node.get("/webhooks", { method: "POST", headers: { ...withToken, ...json }, body: JSON.stringify({ event: "block.applied", target: spelt }) });
      expect({ spelt, status }).to.satisfy((found: { status: number }) => found.status === 400 || found.status === 422);
      const changed = await node.get(`/webhooks/${id}`, { method: "PATCH", headers: { ...withToken, ...json }, body: JSON.stringify({ target: spelt }) });
      expect({ spelt, status: changed.status }).to.satisfy((found: { status: number }) => found.status === 400 || found.status === 422);
    }
  });
});
