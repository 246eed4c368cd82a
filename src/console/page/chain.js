// Blocks, transactions and wallets.
import { html, useMemo } from "./lib/preact.js";
import { find } from "./api.js";
import { Amount, amountText, BlockLink, Card, count, DelegateLink, Facts, Failure, network, Notice, Paged, Plot, Table, Time, TransactionLink, useLoaded, WalletLink } from "./parts.js";

/** `ofOne`: of one delegate, who need not be named in each row. */
export const BlockTable = ({ blocks, ofOne = false }) => html`<${Table} caption="Blocks, newest first" rows=${blocks} empty="No blocks yet." columns=${[
  ["Height", (block) => html`<${BlockLink} id=${block.id}>${count(block.height)}<//>`],
  ["Time", (block) => html`<${Time} unix=${block.timestamp.unix} />`],
  ...(ofOne ? [] : [["Delegate", (block) => (block.generator.username ? html`<${DelegateLink} name=${block.generator.username} />` : html`<${WalletLink} address=${block.generator.address} />`)]]),
  ["Transactions", (block) => count(block.transactions), "num"],
  ["Amount", (block) => html`<${Amount} of=${block.forged.amount} />`, "num"],
  ["Reward and fees", (block) => html`<${Amount} of=${block.forged.total} />`, "num"],
]} />`;

const kinds = ["transfer", "second signature", "delegate registration", "vote", "multisignature", "IPFS", "multipayment", "delegate resignation", "lock", "claim", "refund"];
/** What a transaction moves, its payments together. */
const movedBy = ({ amount, asset }) => (asset?.payments ?? []).reduce((sum, payment) => sum + BigInt(payment.amount), BigInt(amount ?? 0));
const kindOf = ({ type, typeGroup = 1 }) => (typeGroup === 1 ? kinds[type] : undefined) ?? `type ${typeGroup}/${type}`;

/** Whom it goes to. Where a transaction names nobody, the node gives its sender. */
const Recipient = ({ of: { type, typeGroup = 1, sender, recipient, asset }, full }) => {
  if (asset?.payments !== undefined) return asset.payments.length === 1 ? "1 wallet" : `${count(asset.payments.length)} wallets`;
  const namesNobody = recipient === undefined || (recipient === sender && !(typeGroup === 1 && (type === 0 || type === 8)));
  return namesNobody ? "–" : html`<${WalletLink} address=${recipient} full=${full} />`;
};

export const TransactionTable = ({ transactions, empty = "No transactions." }) => html`<${Table} caption="Transactions" rows=${transactions} empty=${empty} columns=${[
  ["Id", ({ id }) => html`<${TransactionLink} id=${id} />`],
  ["Kind", kindOf],
  ["Time", ({ timestamp }) => timestamp && html`<${Time} unix=${timestamp.unix} />`],
  ["From", ({ sender }) => html`<${WalletLink} address=${sender} />`],
  ["To", (transaction) => html`<${Recipient} of=${transaction} />`],
  ["Amount", (transaction) => html`<${Amount} of=${movedBy(transaction)} />`, "num"],
]} />`;

export const Blocks = ({ tip }) => html`<h1 tabindex="-1">Blocks</h1>
  <div class="grid"><${Card} title="Newest first" wide><${Paged} path="/blocks?limit=25" tip=${tip} show=${(blocks) => html`<${BlockTable} blocks=${blocks} />`} /><//></div>`;

const Missing = ({ what, error }) => html`<h1 tabindex="-1">Not found</h1>${error ? html`<${Failure} error=${error} />` : html`<${Notice}>There is no such ${what} on this chain.<//>`}`;
const Waiting = () => html`<h1 tabindex="-1">…</h1>`;

export const Block = ({ id, tip }) => {
  const { value: block, error, isLoading } = useLoaded((signal) => find(`/blocks/${encodeURIComponent(id)}`, { signal }), [id, tip]);
  if (block === undefined) return isLoading ? html`<${Waiting} />` : html`<${Missing} what="block" error=${error} />`;
  return html`<h1 tabindex="-1">Block ${count(block.height)}</h1>
    <div class="grid">
      <${Card} title="Block" wide><${Facts} rows=${[
        ["Id", html`<span class="id">${block.id}</span>`],
        ["Time", html`<${Time} unix=${block.timestamp.unix} full />`],
        ["Forged by", block.generator.username ? html`<${DelegateLink} name=${block.generator.username} />` : html`<${WalletLink} address=${block.generator.address} full />`],
        ["Confirmations", count(block.confirmations)],
        ["Amount", html`<${Amount} of=${block.forged.amount} />`],
        ["Reward", html`<${Amount} of=${block.forged.reward} />`],
        ["Fees", html`<${Amount} of=${block.forged.fee} />`],
        ["Previous", block.previous && html`<${BlockLink} id=${block.previous}>${block.previous}<//>`],
      ]} /><//>
      <${Card} title=${`Transactions (${count(block.transactions)})`} wide>
        <${Paged} path=${`/blocks/${block.id}/transactions?limit=25`} show=${(rows) => html`<${TransactionTable} transactions=${rows} />`} />
      <//>
    </div>`;
};

/** The delegate with a public key. */
const delegateOf = (key, signal) => find(`/delegates/${encodeURIComponent(key)}`, { signal });
const Voted = ({ name, delegate }) => (delegate === undefined ? html`<span class="id">${name}</span>` : html`<${DelegateLink} name=${delegate.username} />`);

const Payments = ({ payments }) => html`<${Card} title=${`Payments (${count(payments.length)})`} wide>
  <${Table} caption="Payments" rows=${payments.map((payment, index) => ({ ...payment, index }))} keyOf=${({ index }) => index} columns=${[
    ["To", ({ recipientId }) => html`<${WalletLink} address=${recipientId} full />`],
    ["Amount", ({ amount }) => html`<${Amount} of=${amount} />`, "num"],
  ]} /><//>`;

/** What of the asset is not shown in another way. */
const restOf = ({ payments: _, votes: __, ...rest } = {}) => (Object.keys(rest).length === 0 ? undefined : rest);

export const Transaction = ({ id, tip }) => {
  const load = async (signal) => {
    const path = encodeURIComponent(id);
    const found = (await find(`/transactions/${path}`, { signal })) ?? (await find(`/transactions/unconfirmed/${path}`, { signal }));
    return found && { ...found, votes: await Promise.all((found.asset?.votes ?? []).map(async (vote) => [vote, await delegateOf(vote.slice(1), signal)])) };
  };
  const { value: found, error, isLoading } = useLoaded(load, [id, tip]);
  if (found === undefined) return isLoading ? html`<${Waiting} />` : html`<${Missing} what="transaction" error=${error} />`;
  return html`<h1 tabindex="-1">${kindOf(found).replace(/^./, (letter) => letter.toUpperCase())}</h1>
    <div class="grid"><${Card} title="Transaction" wide><${Facts} rows=${[
      ["Id", html`<span class="id">${found.id}</span>`],
      ["Block", found.blockId ? html`<${BlockLink} id=${found.blockId}>${found.blockId}<//>` : "waiting to be forged"],
      ["Time", found.timestamp && html`<${Time} unix=${found.timestamp.unix} full />`],
      ["Confirmations", count(found.confirmations ?? 0)],
      ["From", html`<${WalletLink} address=${found.sender} full />`],
      ["To", html`<${Recipient} of=${found} full />`],
      ...found.votes.map(([vote, delegate]) => [vote.startsWith("-") ? "Votes no longer for" : "Votes for", html`<${Voted} name=${vote.slice(1)} delegate=${delegate} />`]),
      ["Amount", html`<${Amount} of=${movedBy(found)} />`],
      ["Fee", html`<${Amount} of=${found.fee} />`],
      ["Memo", found.vendorField],
      ["Nonce", found.nonce],
      ["Asset", restOf(found.asset) && html`<pre tabindex="0">${JSON.stringify(restOf(found.asset), null, 2)}</pre>`],
    ]} /><//>
    ${found.asset?.payments && html`<${Payments} payments=${found.asset.payments} />`}</div>`;
};

const tokens = (amount) => Number(BigInt(amount) / 1000n) / 100_000;

/** Balance over time, where the node keeps it. */
const Balance = ({ address, tip }) => {
  const { value: rows } = useLoaded((signal) => find(`/wallets/${encodeURIComponent(address)}/history?limit=100`, { signal }), [address, tip]);
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
    const wallet = await find(`/wallets/${encodeURIComponent(id)}`, { signal });
    const vote = wallet?.vote ?? wallet?.attributes?.vote;
    return wallet && { ...wallet, vote, delegate: vote && (await delegateOf(vote, signal)) };
  };
  const { value: wallet, error, isLoading } = useLoaded(load, [id, tip]);
  if (wallet === undefined) return isLoading ? html`<${Waiting} />` : html`<${Missing} what="wallet" error=${error} />`;
  return html`<h1 tabindex="-1">Wallet</h1>
    <div class="grid">
      <${Card} title="Wallet" wide><${Facts} rows=${[
        ["Address", html`<span class="id">${wallet.address}</span>`],
        ["Balance", html`<${Amount} of=${wallet.balance} />`],
        ["Delegate", wallet.username && html`<${DelegateLink} name=${wallet.username} />`],
        ["Votes for", wallet.vote && html`<${Voted} name=${wallet.vote} delegate=${wallet.delegate} />`],
        ["Public key", wallet.publicKey && html`<span class="id">${wallet.publicKey}</span>`],
        ["Nonce", wallet.nonce],
      ]} /><//>
      <${Balance} address=${wallet.address} tip=${tip} />
      <${Card} title="Transactions" wide>
        <${Paged} path=${`/wallets/${wallet.address}/transactions?limit=25`} tip=${tip} show=${(rows) => html`<${TransactionTable} transactions=${rows} />`} />
      <//>
    </div>`;
};
