import { type TSchema, Type } from "@sinclair/typebox";
import type { ChainAdapter } from "../../types/chain-adapter.js";
import type { NodeContext, ReaderContext } from "../../types/node-context.js";
import type { TransactionType } from "../../types/transaction-type.js";
import { createTransactionTypes, versionsOf } from "../chain/blocks/transaction-types.js";
import { PorticoError } from "../errors.js";
import { createSchemaCompiler } from "./schema-compiler.js";
import { isObject } from "./checks.js";

/** What a host without types may pass. */
type Unchecked = Partial<Record<keyof NodeContext | keyof ReaderContext, unknown>>;

const refuse = (message: string): never => {
  throw new PorticoError("OPTION_INVALID", message);
};

/** Members that a reader does not take: it receives no events, and its store is written by another process. */
const readerLacks = ["chain", "blocks", "events", "onProgress", "follows"] as const;

/** Members that only the built-in store uses. */
const ownStoreTakes = ["blocks", "follows", "onProgress"] as const;

/** Methods that each part of the host must have, if the part is given. */
const methods = {
  events: ["on", "off"],
  chain: ["snapshot"],
  blocks: ["read"],
  peers: ["list"],
  sync: ["networkHeight"],
  pool: ["list"],
  logger: ["debug", "info", "warn", "error"],
  clock: ["now"],
  follows: ["prepare", "follow", "end", "digestOf", "timesOf", "askReversals", "watch", "problem", "distance", "takeBack", "discardStore"],
} as const satisfies Partial<Record<keyof NodeContext, readonly string[]>>;

/** Methods that a part may have. */
const optionalMethods = {
  chain: ["start", "stop"],
  blocks: ["height"],
  peers: ["suspended"],
  sync: ["synced"],
  pool: ["get", "submit"],
  clock: ["monotonic"],
} as const satisfies Partial<Record<keyof NodeContext, readonly string[]>>;

const Whole = Type.Integer({ minimum: 0 });
const Named = Type.String({ minLength: 1 });

/** The members that are read of the network and of other plain data. Additional members are allowed. */
const NetworkData = Type.Object({
  network: Type.Object({
    name: Named,
    messagePrefix: Type.String(),
    bip32: Type.Object({ public: Whole, private: Whole }),
    pubKeyHash: Type.Integer({ minimum: 0, maximum: 255 }),
    nethash: Named,
    wif: Whole,
    slip44: Type.Optional(Whole),
    aip20: Type.Optional(Whole),
    client: Type.Object({ token: Type.String(), symbol: Type.String(), explorer: Type.String() }),
  }),
  milestones: Type.Array(
    Type.Object({
      blocktime: Type.Optional(Type.Integer({ minimum: 1 })),
      block: Type.Optional(
        Type.Object({
          version: Type.Optional(Whole),
          maxTransactions: Type.Optional(Whole),
          maxPayload: Type.Optional(Whole),
          idFullSha256: Type.Optional(Type.Boolean()),
        }),
      ),
      fees: Type.Optional(Type.Object({ staticFees: Type.Optional(Type.Object({})) })),
      vendorFieldLength: Type.Optional(Whole),
    }),
  ),
});
const NodeData = Type.Object({
  version: Type.Optional(Type.String()),
  ports: Type.Optional(Type.Record(Type.String(), Type.Union([Type.Integer(), Type.Null()]))),
  transactionPool: Type.Optional(
    Type.Object({
      dynamicFees: Type.Object({
        enabled: Type.Boolean(),
        minFeePool: Type.Optional(Whole),
        minFeeBroadcast: Type.Optional(Whole),
        addonBytes: Type.Optional(Type.Record(Type.String(), Whole)),
      }),
    }),
  ),
  delegate: Type.Optional(Type.String()),
});
const TransactionTypesData = Type.Array(
  Type.Object({
    typeGroup: Whole,
    type: Whole,
    versions: Type.Optional(Type.Array(Whole, { minItems: 1 })),
    key: Named,
    name: Named,
    senderPays: Type.Optional(Type.Boolean()),
  }),
);

const needed = {
  network: "the network's parameters, milestones, exceptions and genesis block",
  events: "the host's emitter, with `on` and `off`",
};

/** Listed by hand, since types do not exist at run time; a missing name does not compile. */
const known: Record<keyof NodeContext | keyof ReaderContext, true> = {
  reader: true,
  network: true,
  events: true,
  chain: true,
  dataDir: true,
  blocks: true,
  peers: true,
  sync: true,
  pool: true,
  node: true,
  transactionTypes: true,
  follows: true,
  onProgress: true,
  problem: true,
  logger: true,
  accessLog: true,
  otherMetrics: true,
  warning: true,
  clock: true,
  options: true,
};

const transactionTypeMembers = new Set(
  Object.keys({
    typeGroup: true,
    type: true,
    versions: true,
    key: true,
    name: true,
    senderPays: true,
    apply: true,
    recipients: true,
    form: true,
  } satisfies Record<keyof TransactionType, true>),
);

/** Reads a member. An emitter, an adapter or a logger may also be a function with members. */
const memberOf = (value: unknown, name: string): unknown =>
  isObject(value) || typeof value === "function" ? (value as Record<string, unknown>)[name] : undefined;

const isOptionalFunction = (value: unknown): boolean => value === undefined || typeof value === "function";

const compiler = createSchemaCompiler();

/** Refuses data that does not match the shape, naming the member as the host writes it. */
const requireShape = (shape: TSchema, value: unknown, name: string): void => {
  if (compiler.validate(shape, value)) return;
  const { instancePath, message } = compiler.errors?.[0] ?? { instancePath: "", message: "is not valid" };
  const member = instancePath.replace(/\/(\d+)/g, "[$1]").replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");
  refuse(`\`${name}${member}\` ${message ?? "is not valid"}`);
};

const requireNetwork = (network: unknown): void => {
  if (!isObject(network)) return refuse(`createApiPlugin needs \`network\`: ${needed.network}`);
  for (const part of ["network", "exceptions", "genesisBlock"]) {
    if (!isObject(network[part])) refuse(`\`network.${part}\` must be an object, as in the network's ${part}.json`);
  }
  if (!Array.isArray(network["milestones"])) refuse("`network.milestones` must be a list, as in the network's milestones.json");
  if (!["milestones", "blocks", undefined].includes(network["rewards"] as string))
    refuse('`network.rewards` must be "milestones" or "blocks"');
  if (isObject(network["network"]) && network["network"]["rewards"] !== undefined) refuse("`rewards` is a member of `network`, not of `network.network`");
  requireShape(NetworkData, network, "network");
};

const requireMethods = (context: Unchecked): void => {
  for (const [name, wanted] of Object.entries(methods) as [keyof typeof methods, readonly string[]][]) {
    const part = context[name];
    if (part === undefined) continue;
    const missing = wanted.find((method) => typeof memberOf(part, method) !== "function");
    if (missing !== undefined) refuse(`\`${name}\` must have the method \`${missing}\``);
  }
  for (const [name, allowed] of Object.entries(optionalMethods) as [keyof typeof optionalMethods, readonly string[]][]) {
    const wrong = allowed.find((method) => !isOptionalFunction(memberOf(context[name], method)));
    if (wrong !== undefined) refuse(`\`${name}.${wrong}\` must be a function`);
  }
};

/** Parts that an adapter may do without. */
type Parts = Record<keyof NonNullable<ChainAdapter["supports"]>, true>;
const parts = Object.keys({ locks: true, rounds: true, feeStatistics: true, delegateFigures: true, history: true } satisfies Parts);

/** A misspelt part would count as supported. */
const requireSupports = (supports: unknown): void => {
  if (supports === undefined) return;
  if (!isObject(supports)) return refuse("`chain.supports` must be an object");
  for (const [part, value] of Object.entries(supports)) {
    if (!parts.includes(part)) refuse(`\`chain.supports\` has no member \`${part}\`; its members are ${parts.join(", ")}`);
    if (value !== undefined && typeof value !== "boolean") refuse(`\`chain.supports.${part}\` must be true or false`);
  }
};

/** Effects must be synchronous: a block is applied in one go, and later changes would belong to no block. */
const isAsync = (value: unknown): boolean => typeof value === "function" && value.constructor.name === "AsyncFunction";

/** `transactions/types` goes by names: one for two types would hide the first. */
const requireNames = (rows: readonly TransactionType[]): void => {
  const { all } = createTransactionTypes(rows);
  rows.forEach(({ typeGroup, type, name }, i) => {
    const other = all.find((row) => row.name === name && (row.typeGroup !== typeGroup || row.type !== type));
    if (other !== undefined)
      refuse(`\`transactionTypes[${i}]\` has the name ${name}, which type ${other.type} of group ${other.typeGroup} also has`);
  });
};

const requireTransactionTypes = (rows: unknown): void => {
  if (!Array.isArray(rows)) return refuse("`transactionTypes` must be a list");
  requireShape(TransactionTypesData, rows, "transactionTypes");
  const kinds = new Set<string>();
  (rows as TransactionType[]).forEach((row, i) => {
    // Instances of a class may have further members.
    const isPlain = Object.getPrototypeOf(row) === Object.prototype;
    for (const name of isPlain ? Object.keys(row) : []) {
      if (!transactionTypeMembers.has(name))
        refuse(`\`transactionTypes[${i}]\` has no member \`${name}\`; its members are ${[...transactionTypeMembers].join(", ")}`);
    }
    for (const name of ["apply", "recipients"] as const) {
      if (!isOptionalFunction(row[name])) refuse(`\`transactionTypes[${i}].${name}\` must be a function`);
      if (isAsync(row[name])) refuse(`\`transactionTypes[${i}].${name}\` must not be async, because its effects must be complete when it returns`);
    }
    if (row.form !== undefined && typeof memberOf(row.form, "serialize") !== "function")
      refuse(`\`transactionTypes[${i}].form.serialize\` must be a function`);
    for (const version of versionsOf(row)) {
      const kind = `${row.typeGroup}/${row.type}/${version}`;
      if (kinds.has(kind)) refuse(`\`transactionTypes[${i}]\` has the same group, type and version as an earlier row`);
      kinds.add(kind);
    }
  });
  requireNames(rows as TransactionType[]);
};

const requireTypes = ({ dataDir, transactionTypes, onProgress, accessLog, otherMetrics, problem, warning, node, options }: Unchecked): void => {
  if (dataDir !== undefined && (typeof dataDir !== "string" || dataDir === "")) refuse("`dataDir` must be the path of a folder");
  if (transactionTypes !== undefined) requireTransactionTypes(transactionTypes);
  if (!isOptionalFunction(onProgress)) refuse("`onProgress` must be a function");
  if (!isOptionalFunction(accessLog)) refuse("`accessLog` must be a function");
  if (!isOptionalFunction(otherMetrics)) refuse("`otherMetrics` must be a function");
  if (!isOptionalFunction(problem)) refuse("`problem` must be a function");
  if (!isOptionalFunction(warning)) refuse("`warning` must be a function");
  if (node !== undefined && !isObject(node)) refuse("`node` must be an object");
  // Through JSON, so that members that are undefined count as absent.
  if (node !== undefined) requireShape(NodeData, JSON.parse(JSON.stringify(node)), "node");
  if (options !== undefined && !isObject(options)) refuse("`options` must be an object");
};

/**
 * Checks what a host passes, since hosts written in JavaScript get no help from the types.
 * @throws PorticoError OPTION_INVALID, naming the member
 */
export const requireContext = (given: unknown): void => {
  if (!isObject(given)) return refuse("createApiPlugin takes an object that describes the node");
  const context: Unchecked = given;
  const unknown = Object.keys(context).find((name) => !Object.hasOwn(known, name));
  if (unknown !== undefined) refuse(`createApiPlugin does not take \`${unknown}\`; it takes ${Object.keys(known).join(", ")}`);
  requireNetwork(context.network);
  if (context.reader === true) {
    const needless = readerLacks.find((name) => context[name] !== undefined);
    if (needless !== undefined)
      refuse(`a reader does not take \`${needless}\`, because it reads the chain that another process writes into \`dataDir\``);
  } else if (methods.events.some((method) => typeof memberOf(context.events, method) !== "function")) {
    refuse(`createApiPlugin needs \`events\`: ${needed.events}`);
  }
  const unused = context.chain === undefined ? undefined : ownStoreTakes.find((name) => context[name] !== undefined);
  if (unused !== undefined) refuse(`\`${unused}\` is for the built-in store, which \`chain\` replaces; pass only one of them`);
  requireMethods(context);
  requireSupports(memberOf(context.chain, "supports"));
  requireTypes(context);
};
