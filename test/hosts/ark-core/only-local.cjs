// Loaded into every process of the node: anything that would leave this machine fails, and is reported on stderr.
"use strict";

const dgram = require("node:dgram");
const dns = require("node:dns");
const net = require("node:net");

const isLocal = (host) => host === undefined || host === "" || host === "localhost" || host === "::1" || /^(::ffff:)?127\./.test(host);

const refuse = (host) => {
  process.stderr.write(`LOOKED OUTSIDE: ${host}\n`);
  throw new Error(`nothing here may look outside: ${host}`);
};

const guard = (holder, name, hostOf) => {
  const original = holder[name];
  holder[name] = function (...args) {
    const host = hostOf(args);
    if (!isLocal(host)) refuse(host);
    return original.apply(this, args);
  };
};

const connectHost = (args) => {
  const [first, second] = Array.isArray(args[0]) ? args[0] : args;
  if (typeof first === "object" && first !== null) return first.path === undefined ? first.host : undefined;
  return typeof second === "string" ? second : undefined;
};

guard(net.Socket.prototype, "connect", connectHost);
guard(dgram.Socket.prototype, "send", (args) => args.slice(1).find((arg) => typeof arg === "string"));
for (const holder of [dns, dns.promises]) {
  for (const name of ["lookup", "resolve", "resolve4", "resolve6", "resolveAny"]) guard(holder, name, ([host]) => host);
}
