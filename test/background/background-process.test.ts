import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { constants, getPriority } from "node:os";
import { expect } from "chai";
import { inBackgroundProcess, priority } from "../../src/async/background-process.js";
import { messageOf } from "../../src/errors.js";
import { endProcess } from "../fixtures/end-process.js";
import { programOf } from "../fixtures/programs.js";

describe("A background process", () => {
  const server = createServer();
  let port: number;
  before(async () => {
    await once(server.listen(0, "127.0.0.1"), "listening");
    ({ port } = server.address() as AddressInfo);
  });
  after(() => void server.close());

  const connected = async (): Promise<Socket> => {
    const [socket] = (await once(server, "connection")) as [Socket];
    return socket.on("error", () => undefined);
  };

  it("ends when the process that gave it its task is killed", async () => {
    const giving = spawn(process.execPath, [programOf(new URL("giving-process.ts", import.meta.url)), String(port)], { stdio: "ignore" });
    const closed = once((await connected()).resume(), "close");
    await endProcess(giving, "SIGKILL");
    await closed;
  });

  it("has ended when a call that was stopped rejects", async () => {
    const ending = new AbortController();
    const call = inBackgroundProcess("endless-process", import.meta.url, { port }, ending.signal);
    const [id] = (await once(await connected(), "data")) as [Buffer];
    ending.abort();
    expect(await call.catch(messageOf)).to.include("aborted");
    expect(() => process.kill(Number(id), 0)).to.throw("ESRCH");
  });

  it("has the lowest priority", async () => {
    const ending = new AbortController();
    priority.isLowest = true;
    const call = inBackgroundProcess("endless-process", import.meta.url, { port }, ending.signal);
    priority.isLowest = false;
    const [id] = (await once(await connected(), "data")) as [Buffer];
    expect(getPriority(Number(id))).to.equal(constants.priority.PRIORITY_LOW);
    ending.abort();
    await call.catch(messageOf);
  });
});
