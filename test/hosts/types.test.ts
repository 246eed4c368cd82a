import type { createServer, IncomingMessage, Server, ServerResponse } from "node:http";
import type { EventEmitter as NodeEmitter } from "node:events";
import type { EventEmitter } from "eventemitter3";
import { expectTypeOf } from "expect-type";
import type { NextFunction, Request, Response } from "express";
import type Koa from "koa";
import type { Router } from "@koa/router";
import {
  type ApiPlugin,
  type BlockData,
  type BlockSource,
  type ChainAdapter,
  type ChainSnapshot,
  createApiPlugin,
  defaultOptions,
  type HostEvents,
  type Logger,
  type Network,
  type NodeContext,
  type Page,
  type PorticoError,
  type PorticoOptions,
  type ReaderContext,
  type RequestListener,
  type TransactionType,
  type Wallet,
  type Webhooks,
} from "portico";
import { applyBlock, type BlockChanges, type ChainRules, createChainRules, roundOf } from "portico/chain";
import { type ConformanceTarget, createConformanceSuite, describeConformance } from "portico/conformance";

/** What a host in TypeScript sees. The checks take place when the project is compiled (`npm run check:types`); nothing of them is left at run time. */
describe("the public types", () => {
  it("accept what hosts have", () => {
    expectTypeOf(createApiPlugin).parameters.toEqualTypeOf<[context: NodeContext | ReaderContext]>();
    expectTypeOf(createApiPlugin).returns.toEqualTypeOf<ApiPlugin>();
    expectTypeOf<EventEmitter>().toExtend<HostEvents>();
    expectTypeOf<NodeEmitter>().toExtend<HostEvents>();
    expectTypeOf<EventEmitter<{ "block.applied": [BlockData] }>["off"]>().toBeFunction();
    expectTypeOf<Console>().toExtend<Logger>();
    expectTypeOf<{ read: (from: number, limit: number) => BlockData[] }>().toExtend<BlockSource>();
    expectTypeOf<{ read: (from: number, limit: number) => Promise<BlockData[]> }>().toExtend<BlockSource>();
    // Only these are required; that one of `chain` and `dataDir` is given is checked when the plugin is created.
    expectTypeOf<Pick<NodeContext, "network" | "events">>().toExtend<NodeContext>();
    // What a host reads from its environment may not be there.
    expectTypeOf<Pick<NodeContext, "network" | "events"> & { dataDir: string | undefined; chain: undefined; logger: undefined; clock: undefined }>().toExtend<NodeContext>();
    expectTypeOf<Pick<NodeContext, "network">>().not.toExtend<NodeContext>();
    // A reader has a folder, and no emitter.
    expectTypeOf<{ reader: true; network: Network; dataDir: string }>().toExtend<ReaderContext>();
    expectTypeOf<{ reader: true; network: Network }>().not.toExtend<NodeContext | ReaderContext>();
    expectTypeOf<"events" | "blocks" | "chain">().not.toExtend<keyof ReaderContext>();
    expectTypeOf<NodeContext["options"]>().toEqualTypeOf<PorticoOptions | undefined>();
    expectTypeOf<{ amounts: "float" }>().not.toExtend<PorticoOptions>();
    expectTypeOf<{ webhooks: false; amounts: "string"; rateLimit: { perMinute: number } }>().toExtend<PorticoOptions>();
  });

  it("match what servers accept", () => {
    expectTypeOf<ApiPlugin["callback"]>().returns.toEqualTypeOf<RequestListener>();
    expectTypeOf<RequestListener>().toExtend<(request: Request, response: Response, next: NextFunction) => void>();
    expectTypeOf<RequestListener>().toExtend<(request: IncomingMessage, response: ServerResponse) => void>();
    expectTypeOf<RequestListener>().toExtend<NonNullable<Parameters<typeof createServer>[1]>>();
    expectTypeOf<ApiPlugin["mount"]>().parameter(0).toEqualTypeOf<Koa>();
    expectTypeOf<ApiPlugin["router"]>().toEqualTypeOf<Router>();
    expectTypeOf((app: Koa, plugin: ApiPlugin) => app.use(plugin.router.routes())).returns.toHaveProperty("callback");
    expectTypeOf<ApiPlugin["listen"]>().returns.resolves.toEqualTypeOf<Server>();
    expectTypeOf<ApiPlugin["webhooks"]>().toEqualTypeOf<Webhooks | undefined>();
    expectTypeOf<ApiPlugin["chain"]>().toEqualTypeOf<ChainAdapter>();
    expectTypeOf<PorticoError>().toExtend<Error>();
    expectTypeOf(defaultOptions).not.toBeAny();
  });

  it("have amounts as bigints, and let an adapter answer synchronously or asynchronously", () => {
    expectTypeOf<Wallet["balance"]>().toEqualTypeOf<bigint>();
    expectTypeOf<ChainSnapshot["supply"]>().toEqualTypeOf<bigint>();
    expectTypeOf<ReturnType<ChainSnapshot["wallets"]>>().toEqualTypeOf<Page<Wallet> | Promise<Page<Wallet>>>();
    expectTypeOf<{ snapshot: () => undefined }>().toExtend<ChainAdapter>();
    expectTypeOf<{ snapshot: () => undefined; supports: { locks: false } }>().toExtend<ChainAdapter>();
    expectTypeOf<{ typeGroup: 2; type: 0; key: "split"; name: "Split" }>().toExtend<TransactionType>();
  });

  it("include the chain's rules and the conformance suite for fork authors", () => {
    expectTypeOf(createChainRules).returns.toEqualTypeOf<ChainRules>();
    expectTypeOf(applyBlock).returns.toEqualTypeOf<BlockChanges>();
    expectTypeOf(roundOf).parameter(0).toEqualTypeOf<number>();
    expectTypeOf(describeConformance).parameter(1).toEqualTypeOf<ConformanceTarget>();
    expectTypeOf(describeConformance).toBeCallableWith("a store", {} as ConformanceTarget, { describe, it, after });
    expectTypeOf(createConformanceSuite).parameter(0).toEqualTypeOf<ConformanceTarget>();
  });
});
