"use strict";

const byHeight = (direction) => [{ property: "height", direction }];

/** Whole blocks in their wire form, from the node's own database. */
const readBlocks = async (history, fromHeight, limit) => {
  const { results } = await history.listByCriteriaJoinTransactions(
    { height: { from: fromHeight } },
    {},
    byHeight("asc"),
    { offset: 0, limit },
  );
  return results.map(({ data, transactions }) => ({
    ...data,
    transactions: transactions.sort((a, b) => a.sequence - b.sequence),
  }));
};

/** Height of the last block there. */
const readHeight = async (history) => {
  const { results } = await history.listByCriteria({}, byHeight("desc"), { offset: 0, limit: 1 });
  return results[0]?.height ?? 0;
};

module.exports = { readBlocks, readHeight };
