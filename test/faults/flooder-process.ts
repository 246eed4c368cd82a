/**
 * Floods a node: `node flooder-process.js KIND PORT CONNECTIONS`. Each connection comes from an address of its own, and one that is closed
 * comes again. Prints a line when all have been opened, and ends, with all that it holds, when its input does.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import type { FloodKind } from "./flood.js";

const [, , kind = "", port = "0", connections = "0"] = process.argv;

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const post = (path: string, body: string | Buffer, ...headers: string[]): Buffer =>
  Buffer.concat([Buffer.from([`POST ${path} HTTP/1.1`, "Host: x", `Content-Length: ${Buffer.byteLength(body)}`, ...headers, "", ""].join("\r\n")), Buffer.from(body)]);

/** Writes again and again, until the connection closes. */
const drip = (socket: Socket, text: () => string): void => {
  const timer = setInterval(() => socket.write(text()), 250);
  socket.once("close", () => clearInterval(timer));
};

/** Asks so many questions at a time, and as many again when they have been answered. */
const askOn = (socket: Socket, question: () => string | Buffer, atATime = 1): void => {
  let open = 0;
  const ask = (): void => {
    for (; open < atATime; open++) socket.write(question());
  };
  ask();
  socket.on("data", (data: Buffer) => {
    open -= data.toString("latin1").split("HTTP/1.1 ").length - 1;
    if (open <= 0) ask();
  });
};

let asked = 0;
/** With as many numbers of this kind as a search takes. */
const dearestBody = gzipSync(`{"addresses":[${"1e22,".repeat(999)}1e22]}`);
const dearestSearch = (): Buffer =>
  post("/api/transactions/search?limit=100&orderBy=amount:desc", JSON.stringify({ fee: { from: 1 }, amount: { from: asked++ % 1_000, to: 95_000 }, type: 0 }));

const floods: Record<FloodKind, (socket: Socket) => void> = {
  "idle connections": () => undefined,
  "headers that never end": (socket) => {
    socket.write("GET /api/blockchain HTTP/1.1\r\nHost: x\r\n");
    drip(socket, () => "X-More: x\r\n");
  },
  "bodies that never end": (socket) => {
    socket.write("POST /api/transactions/search HTTP/1.1\r\nHost: x\r\nContent-Length: 16000\r\n\r\n{");
    drip(socket, () => " ");
  },
  "requests cut off in the middle": (socket) => void socket.end("GET /api/blockchain HTTP/1.1\r\nHost:"),
  "replies that are never read": (socket) => {
    socket.pause();
    socket.write(get("/api/transactions?limit=100").repeat(50));
  },
  "streams that are never read": (socket) => {
    socket.pause();
    socket.write(get("/api/changes?after=genesis&follow=true"));
  },
  "pipelined requests": (socket) => askOn(socket, () => get(`/api/wallets?limit=1&offset=${asked++ % 10}`), 20),
  "downloads that are broken off": (socket) => {
    socket.write(get("/api/transactions?limit=100"));
    socket.once("data", () => socket.resetAndDestroy());
  },
  "bodies that cost most": (socket) => askOn(socket, () => post("/api/transactions/search", dearestBody, "Content-Encoding: gzip")),
  "searches that cost most": (socket) => askOn(socket, dearestSearch),
  "bytes that are not HTTP": (socket) => void socket.write(Buffer.alloc(1_000, 0xff)),
};

const flood = (floods as Partial<Record<string, (socket: Socket) => void>>)[kind];
if (flood === undefined) throw new Error(`no flood is named ${kind}`);

const open = (index: number): Socket => {
  const socket = connect({ host: "127.0.0.1", port: Number(port), localAddress: `127.1.${index >> 8}.${index & 255}`, allowHalfOpen: kind === "requests cut off in the middle" });
  // A node that has shed it, or is shedding: it comes again, but not in a loop.
  socket.on("error", () => undefined).once("close", () => setTimeout(open, 100, index));
  socket.once("connect", () => flood(socket));
  return socket.resume();
};
await Promise.all(Array.from({ length: Number(connections) }, (_, index) => once(open(index), "connect")));
process.stdout.write("begun\n");
await once(process.stdin.resume(), "end");
process.exit();
