import { setImmediate as nextTurn } from "node:timers/promises";
import { Type } from "@sinclair/typebox";
import { Flag, OneOf, Range, Text, TimeRange, WholeNumber } from "../../http/input/schema.js";
import { type Chunk, type Route, routesOf } from "../../http/route.js";
import { overlap } from "../fields.js";
import { chooseFormat, csvType, savedAs } from "../formats.js";
import { findWallet, presentWalletChange, WalletChangeResource } from "./wallets.js";
import { type ApiState, noHistory } from "../state.js";
import { csvHeader, csvLine, jsonLine, rowInTokens, type StatementRow } from "../statement/row.js";
import { statement, type StatementNeeds } from "../statement/statement.js";
import { heightsOf, heightsWithin, PeriodEndInput } from "../statement/period.js";

const { list, body } = routesOf<ApiState>();
const common = { method: "GET", versions: [2], resource: "wallets", atHeight: true, errors: [404, 410, 501] } as const;
const params = Type.Object({ id: Text({ description: "Address, public key or username." }) });

/** @throws PorticoError NOT_SUPPORTED */
const changesOf = ({ chain, supports }: ApiState) => {
  if (supports.history === false || chain.walletChanges === undefined) throw noHistory();
  return chain.walletChanges.bind(chain);
};

const contentTypes = { ndjson: "application/x-ndjson; charset=utf-8", csv: csvType };

/** Rows as text: one by one, with a header line or without. */
interface Form {
  header: string;
  line(row: StatementRow): string;
}

const forms = { ndjson: { header: "", line: jsonLine }, csv: { header: csvHeader, line: csvLine } } satisfies Record<string, Form>;

async function* written(needs: StatementNeeds, { header, line }: Form): AsyncGenerator<Chunk> {
  if (header !== "") yield header;
  for await (const rows of statement(needs)) {
    yield rows.map(line).join("");
    // Between two pieces, others are answered.
    await nextTurn();
  }
}

export const walletHistoryRoutes: Route<ApiState>[] = [
  list({
    ...common,
    path: "/wallets/{id}/history",
    operation: "getWalletHistory",
    summary: "Lists the blocks that changed a wallet, newest first, with its state after each.",
    params,
    query: Type.Object({
      height: Type.Optional(Range(WholeNumber({ minimum: 0 }), { exact: true, description: "Height of the block." })),
      timestamp: Type.Optional(TimeRange({ exact: true, description: "When the block was forged" })),
    }),
    item: WalletChangeResource,
    answer: async ({ params: { id }, query: { height, timestamp }, page }, state) => {
      const { chain, rules } = state;
      const ask = changesOf(state);
      const { address } = await findWallet(id, state);
      const heights = overlap(height, timestamp && (await heightsWithin(timestamp, chain))) ?? {};
      const { rows, total } = await ask({ address, heights, direction: "desc", ...page });
      const blocks = await Promise.all(rows.map(async (row) => chain.block({ height: row.height })));
      return { rows: rows.map((row, place) => presentWalletChange(row, blocks[place], rules.epoch)), total };
    },
  }),
  body({
    ...common,
    path: "/wallets/{id}/statement",
    operation: "getWalletStatement",
    summary: "Returns every booking of a wallet as JSON lines or CSV.",
    params,
    query: Type.Object({
      from: Type.Optional(PeriodEndInput("First block: a height, a time (ISO 8601), or a day (UTC).")),
      to: Type.Optional(PeriodEndInput("Last block, included: a height, a time, or a whole day.")),
      order: OneOf(["asc", "desc"], { default: "asc", description: "Oldest or newest first." }),
      opening: Flag({ default: false, description: "Whether a row of kind `opening` says what the balance was before the period." }),
      unit: Type.Optional(
        OneOf(["token"], { description: "The unit of amounts: `token`, with a point and eight decimals. Default: whole numbers of 1e-8." }),
      ),
      format: Type.Optional(OneOf(["ndjson", "csv"], { description: "Default: `ndjson`, or `csv` where `Accept` prefers `text/csv`." })),
    }),
    content: { "application/x-ndjson": Type.String(), "text/csv": Type.String() },
    answer: async ({ params: { id }, query: { from, to, order, opening, unit, format: given }, headers }, state) => {
      const { chain, rules } = state;
      const ask = changesOf(state);
      const wallet = await findWallet(id, state);
      const heights = await heightsOf(from, to, chain, rules.epoch);
      // Refused here if the changes from there on are not known: a reply that has begun cannot be.
      await ask({ address: wallet.address, heights: { from: heights.from, to: heights.from }, direction: "asc", offset: 0, limit: 1 });
      const format = chooseFormat(contentTypes, given, headers);
      const needs: StatementNeeds = { rules, wallet, heights, direction: order, opening, open: () => state.again() };
      const { header, line } = forms[format.name];
      const form: Form = { header, line: unit === "token" ? (row) => line(rowInTokens(row)) : line };
      const naming = format.name === "csv" ? savedAs(`${wallet.address}-${heights.from}-${heights.to}.csv`) : [];
      const lasting = state.isFinal === true ? ["Cache-Control", "public, max-age=31536000, immutable"] : ["Cache-Control", "no-cache"];
      return { stream: () => written(needs, form), contentType: format.contentType, headers: [...lasting, ...naming, ...format.headers] };
    },
  }),
];
