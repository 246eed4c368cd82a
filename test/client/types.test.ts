import { expectTypeOf } from "expect-type";
import type { Booking, BookingEvent, Client, EventName, FollowedEvent, List, MultiPaymentAsset, Page, StatementRow, Transaction, VoteAsset, Wallet } from "../../src/client/index.js";

/** What must not compile stands below `@ts-expect-error`: compiling is the test. */
describe("the types of portico/client", () => {
  const compiles = (check: (client: Client) => unknown): void => void expectTypeOf(check).toBeFunction();

  it("refuse a misspelt filter, order, event, state and method", () => {
    compiles((client): unknown[] => [
      client.wallets.list({ balance: { from: 1n }, orderBy: "balance:desc", producedBlocks: 3 }),
      // @ts-expect-error: no such filter
      client.wallets.list({ balanse: { from: 1n } }),
      // @ts-expect-error: an amount is a bigint
      client.wallets.list({ balance: { from: 1 } }),
      // @ts-expect-error: no such order
      client.wallets.list({ orderBy: "balanc" }),
      // @ts-expect-error: no such direction
      client.wallets.list({ orderBy: "balance:down" }),
      // @ts-expect-error: a list of wallets is not kept for earlier heights
      client.wallets.list({ at: 5 }),
      // @ts-expect-error: a search takes ranges alone
      client.wallets.search({ balance: 1n }),
      client.webhooks.create({ target: "https://example.com", events: ["booking.applied", "transaction.*", "webhook.disabled"] }),
      // @ts-expect-error: no such event
      client.webhooks.create({ target: "https://example.com", events: ["booking.aplied"] }),
      // @ts-expect-error: no such event
      client.webhooks.create({ target: "https://example.com", event: "block.aplied" }),
      // @ts-expect-error: no target
      client.webhooks.create({ event: "block.applied" }),
      // @ts-expect-error: no such state
      client.webhooks.deliveries(1, { state: "lost" }),
      client.transactions.get("x", { at: 5, proof: { delegates: ["02"], threshold: 34 } }),
      // @ts-expect-error: whose word counts is not the node's to say
      client.transactions.get("x", { proof: {} }),
      // @ts-expect-error: wallets have no proofs
      client.wallets.get("x", { proof: { delegates: [] } }),
      // @ts-expect-error: no such operator
      client.webhooks.dryRun({ conditions: [{ key: "a", condition: "equals" }] }),
      // @ts-expect-error: no such event
      client.follow({ after: "tip", events: ["block.aplied"], onEvent: () => undefined }),
    ]);
    // @ts-expect-error: no such operation
    expectTypeOf<Client["wallets"]["gett"]>();
  });

  it("say what a reply is: amounts are bigints", () => {
    compiles((client) => {
      expectTypeOf(client.wallets.list()).toEqualTypeOf<List<Wallet>>();
      expectTypeOf(client.wallets.top().then((page) => page)).resolves.toEqualTypeOf<Page<Wallet>>();
      expectTypeOf(client.wallets.get("x")).resolves.toEqualTypeOf<Wallet>();
      expectTypeOf(client.wallets.find("x")).resolves.toEqualTypeOf<Wallet | undefined>();
      expectTypeOf(client.transactions.get("x", { proof: { delegates: () => undefined } })).resolves.toEqualTypeOf<Transaction>();
      expectTypeOf<Wallet["balance"]>().toEqualTypeOf<bigint>();
      expectTypeOf<NonNullable<Wallet["attributes"]["delegate"]>["voteBalance"]>().toEqualTypeOf<bigint>();
      expectTypeOf<Wallet["nonce"]>().toEqualTypeOf<string>();
      expectTypeOf<StatementRow["in"]>().toEqualTypeOf<bigint | null>();
      expectTypeOf(client.wallets.statement("x")).toExtend<AsyncIterable<StatementRow>>();
      expectTypeOf(client.delegates.voterBalances("x")).resolves.toEqualTypeOf<Record<string, bigint>>();
      expectTypeOf(client.webhooks.delete(1)).resolves.toEqualTypeOf<void>();
    });
  });

  it("narrow an asset by the transaction's type", () => {
    const check = (transaction: Transaction): void => {
      if (transaction.type === 3) expectTypeOf(transaction.asset).toEqualTypeOf<VoteAsset>();
      if (transaction.type === 6) expectTypeOf(transaction.asset).toEqualTypeOf<MultiPaymentAsset>();
      expectTypeOf<MultiPaymentAsset["payments"][number]["amount"]>().toEqualTypeOf<bigint>();
      // @ts-expect-error: of any transaction, it may be any
      expectTypeOf(transaction.asset?.votes);
    };
    expectTypeOf(check).toBeFunction();
  });

  it("narrow an event's data by its name, to the events that were asked for", () => {
    const check = (event: FollowedEvent): void => {
      if (event.event === "booking.applied") expectTypeOf(event.data).toEqualTypeOf<Booking>();
      if (event.event === "transaction.applied" && event.data.type === 3) expectTypeOf(event.data.asset).toEqualTypeOf<VoteAsset>();
      if (event.event === "round.applied") expectTypeOf(event.data).toEqualTypeOf<null>();
    };
    expectTypeOf(check).toBeFunction();
    compiles((client) => {
      void client.follow({ after: 1, events: ["block.*"], onEvent: ({ event }) => expectTypeOf(event).toExtend<`block.${string}`>() });
      void client.follow({ after: 1, onEvent: ({ event }) => expectTypeOf(event).toEqualTypeOf<Exclude<EventName, BookingEvent>>() });
      void client.follow({ after: 1, events: ["booking.applied"], onEvent: ({ data }) => expectTypeOf(data).toEqualTypeOf<Booking>() });
    });
  });
});
