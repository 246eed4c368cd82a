// Blocks, transactions and wallets.
import { html, useMemo } from "./lib/preact.js";
import { client, orNothing } from "./api.js";
import { Amount, amountText, BlockLink, Card, count, DelegateLink, Facts, Missing, network, Paged, Plot, Table, Time, useLoaded, Waiting, WalletLink } from "./parts.js";
import { TransactionTable, Voted } from "./transactions.js";

/** `ofOne`: of one delegate, who need not be named in each row. */
export const BlockTable = ({ blocks, ofOne = false }) => html`<${Table} caption="Blocks, newest first" rows=${blocks} empty="No blocks yet." columns=${[
  ["Height", (block) => html`<${BlockLink} id=${block.id}>${count(block.height)}<//>`],
  ["Time", (block) => html`<${Time} unix=${block.timestamp.unix} short />`],
  ...(ofOne ? [] : [["Delegate", (block) => (block.generator.username ? html`<${DelegateLink} name=${block.generator.username} />` : html`<${WalletLink} address=${block.generator.address} />`)]]),
  ["Transactions", (block) => count(block.transactions), "num"],
  ["Amount", (block) => html`<${Amount} of=${block.forged.amount} />`, "num"],
  ["Reward and fees", (block) => html`<${Amount} of=${block.forged.total} />`, "num"],
]} />`;

export const Blocks = ({ tip }) => html`<h1 tabindex="-1">Blocks</h1>
  <div class="grid"><${Card} title="Newest first" wide><${Paged} name="blocks" list=${client.blocks.list} tip=${tip} show=${(blocks) => html`<${BlockTable} blocks=${blocks} />`} /><//></div>`;

export const Block = ({ id, tip }) => {
  const { value: block, error, isLoading } = useLoaded((signal) => orNothing(client.blocks.get(id, {}, { signal })), [id, tip]);
  if (block === undefined) return isLoading ? html`<${Waiting} />` : html`<${Missing} what="block" error=${error} />`;
  return html`<h1 tabindex="-1">Block ${count(block.height)}</h1>
    <div class="grid">
      <${Card} title="Block" wide><${Facts} rows=${[
        ["Id", html`<span class="id">${block.id}</span>`],
        ["Time", html`<${Time} unix=${block.timestamp.unix} />`],
        ["Forged by", block.generator.username ? html`<${DelegateLink} name=${block.generator.username} />` : html`<${WalletLink} address=${block.generator.address} full />`],
        ["Confirmations", count(block.confirmations)],
        ["Amount", html`<${Amount} of=${block.forged.amount} />`],
        ["Reward", html`<${Amount} of=${block.forged.reward} />`],
        ["Fees", html`<${Amount} of=${block.forged.fee} />`],
        ["Previous", block.previous && html`<${BlockLink} id=${block.previous}>${block.previous}<//>`],
      ]} /><//>
      <${Card} title=${`Transactions (${count(block.transactions)})`} wide>
        <${Paged} name=${block.id} list=${(query, options) => client.blocks.transactions(block.id, query, options)} show=${(rows) => html`<${TransactionTable} transactions=${rows} />`} />
      <//>
    </div>`;
};

const tokens = (amount) => Number(amount / 1000n) / 100_000;

/** Balance over time, where the node keeps it. */
const Balance = ({ address, tip }) => {
  const { value: rows } = useLoaded(async (signal) => (await orNothing(client.wallets.history(address, { limit: 100 }, { signal })))?.data, [address, tip]);
  const plot = useMemo(() => {
    const all = [...(rows ?? [])].reverse();
    const x = all.map(({ timestamp }) => timestamp.unix);
    // A genesis of years before the first forged block would leave no room for what came after it.
    if (all.length > 2 && all[0].height === 1) x[0] = Math.max(x[0], x[1] - Math.max(network.blocktime, (x.at(-1) - x[1]) / 20));
    return { x, y: all.map(({ balance }) => tokens(balance)) };
  }, [rows]);
  if (rows === undefined || rows.length < 2) return null;
  const label = `Balance over its last ${rows.length} changes, now ${amountText(rows[0].balance)}`;
  return html`<${Card} title="Balance over time" wide><${Plot} time label=${label} x=${plot.x} y=${plot.y} format=${(value) => count(value)} /><//>`;
};

export const Wallet = ({ id, tip }) => {
  const load = async (signal) => {
    const wallet = await orNothing(client.wallets.get(id, {}, { signal }));
    return wallet && { ...wallet, vote: wallet.vote ?? wallet.attributes?.vote };
  };
  const { value: wallet, error, isLoading } = useLoaded(load, [id, tip]);
  if (wallet === undefined) return isLoading ? html`<${Waiting} />` : html`<${Missing} what="wallet" error=${error} />`;
  return html`<h1 tabindex="-1">Wallet</h1>
    <div class="grid">
      <${Card} title="Wallet" wide><${Facts} rows=${[
        ["Address", html`<span class="id">${wallet.address}</span>`],
        ["Balance", html`<${Amount} of=${wallet.balance} />`],
        ["Delegate", wallet.username && html`<${DelegateLink} name=${wallet.username} />`],
        ["Votes for", wallet.vote && html`<${Voted} publicKey=${wallet.vote} />`],
        ["Public key", wallet.publicKey && html`<span class="id">${wallet.publicKey}</span>`],
        ["Nonce", wallet.nonce],
      ]} /><//>
      <${Balance} address=${wallet.address} tip=${tip} />
      <${Card} title="Transactions" wide>
        <${Paged} name=${id} list=${(query, options) => client.wallets.transactions(id, query, options)} tip=${tip} show=${(rows) => html`<${TransactionTable} transactions=${rows} wallet=${wallet.address} />`} />
      <//>
    </div>`;
};
