// Transactions: what they do, and whether that is proven.
import { html } from "./lib/preact.js";
import { ProofError, verifyTransaction } from "./lib/client.js";
import { client, isRefused, orNothing } from "./api.js";
import {
  Amount, BlockLink, Card, count, DelegateLink, Facts, Failure, jsonText, Missing, Table, Time, TransactionLink, useLoaded, Waiting, WalletLink,
} from "./parts.js";

const names = new Map();
/** The username of a delegate; undefined if no delegate has the public key. */
const nameOf = (publicKey) => {
  const name = names.get(publicKey) ?? orNothing(client.delegates.get(publicKey)).then((delegate) => delegate?.username);
  names.set(publicKey, name);
  name.catch(() => names.delete(publicKey));
  return name;
};

export const Voted = ({ publicKey }) => {
  const { value } = useLoaded(() => nameOf(publicKey), [publicKey]);
  return value === undefined ? html`<span class="id">${publicKey}</span>` : html`<${DelegateLink} name=${value} />`;
};

const to = (address) => html`<${WalletLink} address=${address} />`;
const sumOf = (payments) => payments.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
const paidTo = (payments, wallet) => sumOf(payments.filter(({ recipientId }) => recipientId === wallet));

const transfer = ({ amount, sender, recipient }, wallet) => {
  const moved = html`<${Amount} of=${amount} />`;
  if (wallet === undefined) return html`transfer of ${moved} to ${to(recipient)}`;
  if (sender === recipient) return html`${moved} sent to itself`;
  return wallet === sender ? html`${moved} sent to ${to(recipient)}` : html`${moved} received from ${to(sender)}`;
};

const multipayment = ({ sender, asset: { payments = [] } = {} }, wallet) => {
  if (wallet !== undefined && wallet !== sender) {
    return html`<${Amount} of=${paidTo(payments, wallet)} /> received in a multipayment from ${to(sender)}`;
  }
  const recipients = new Set(payments.map(({ recipientId }) => recipientId)).size;
  return html`multipayment to ${count(recipients)} ${recipients === 1 ? "recipient" : "recipients"}, <${Amount} of=${sumOf(payments)} />`;
};

const votesOf = ({ asset }) => asset?.votes ?? [];
const votes = (transaction) => {
  const [taken, given] = ["-", "+"].map((sign) => votesOf(transaction).find((vote) => vote.startsWith(sign))?.slice(1));
  if (taken === undefined) return html`vote for <${Voted} publicKey=${given} />`;
  if (given === undefined) return html`vote taken back from <${Voted} publicKey=${taken} />`;
  return html`vote moved from <${Voted} publicKey=${taken} /> to <${Voted} publicKey=${given} />`;
};

const multisignature = ({ asset = {} }) => {
  const { min, publicKeys, keysgroup } = asset.multiSignature ?? asset.multisignature ?? asset.multiSignatureLegacy ?? {};
  const keys = publicKeys ?? keysgroup;
  return keys === undefined ? "multisignature" : `multisignature of ${min} of ${keys.length} keys`;
};

const lock = ({ amount, sender, recipient }, wallet) => {
  const locked = html`<${Amount} of=${amount} /> locked`;
  return wallet === undefined || wallet === sender ? html`${locked} for ${to(recipient)}` : html`${locked} by ${to(sender)} for this wallet`;
};

/** What transactions of the core's types do, as seen from a wallet or, without one, by anybody. */
const deeds = {
  0: transfer,
  1: () => "second signature set",
  2: ({ asset }) => html`delegate ${asset?.delegate?.username ?? ""} registered`,
  3: votes,
  4: multisignature,
  5: ({ asset }) => html`IPFS <span class="id">${asset?.ipfs ?? ""}</span>`,
  6: multipayment,
  7: () => "delegate resigned",
  8: lock,
  9: ({ asset }) => html`claim of lock <${TransactionLink} id=${asset?.claim?.lockTransactionId ?? ""} />`,
  10: ({ asset }) => html`refund of lock <${TransactionLink} id=${asset?.refund?.lockTransactionId ?? ""} />`,
};
const Deed = ({ of, wallet }) => {
  const { type, typeGroup = 1, amount } = of;
  const deed = typeGroup === 1 ? deeds[type] : undefined;
  if (deed !== undefined) return deed(of, wallet);
  return html`type ${typeGroup}/${type}${BigInt(amount ?? 0) > 0n && html`, <${Amount} of=${amount} />`}`;
};

/** How it changes a wallet's balance; undefined where the transaction alone does not say that. */
const changeOf = ({ type, typeGroup = 1, amount, fee, sender, recipient, asset }, wallet) => {
  if (typeGroup !== 1 || type > 8) return undefined;
  const payments = asset?.payments ?? [];
  const paid = type === 0 || type === 8 ? BigInt(amount) : sumOf(payments);
  const received = (type === 0 && recipient === wallet ? paid : 0n) + paidTo(payments, wallet);
  return received - (sender === wallet ? paid + BigInt(fee) : 0n);
};

const Change = ({ of }) => (of === undefined ? "–" : html`<${Amount} of=${of} />`);

/** `wallet`: the address of the one whose transactions they are. */
export const TransactionTable = ({ transactions, wallet, empty = "No transactions." }) => html`<${Table} caption="Transactions"
  rows=${transactions} empty=${empty} columns=${[
  ["What it does", (transaction) => html`<${Deed} of=${transaction} wallet=${wallet} />`],
  wallet === undefined
    ? ["From", ({ sender }) => to(sender)]
    : ["Change", (transaction) => html`<${Change} of=${changeOf(transaction, wallet)} />`, "num"],
  ["Time", ({ timestamp }) => timestamp && html`<${Time} unix=${timestamp.unix} short />`],
  ["Id", ({ id }) => html`<${TransactionLink} id=${id} />`],
]} />`;

const Payments = ({ payments }) => html`<${Card} title=${`Payments (${count(payments.length)})`} wide>
  <${Table} caption="Payments" rows=${payments.map((payment, index) => ({ ...payment, index }))} keyOf=${({ index }) => index} columns=${[
    ["To", ({ recipientId }) => html`<${WalletLink} address=${recipientId} full />`],
    ["Amount", ({ amount }) => html`<${Amount} of=${amount} />`, "num"],
  ]} /><//>`;

/** Blocks after its own that a proof has. */
const depth = 51;

/** Checks by signatures what the node shows. Exceptions would be what is not checked: none is taken from the node. */
const prove = async (shown, signal) => {
  const [proof, { network, milestones }] = await Promise.all([
    client.transactions.proof(shown.id, { confirmations: depth }, { signal }),
    client.node.crypto({ signal }),
  ]);
  const { delegates } = proof.round;
  return { ...verifyTransaction(shown, proof, { network, milestones, delegates }), delegates, round: proof.round.number };
};

const lines = (title, texts) => html`<h3>${title}</h3><ul>${texts.map((text) => html`<li>${text}</li>`)}</ul>`;

const Proof = ({ of: shown }) => {
  // Each block is asked about until the proof is as long as it gets.
  const { value, error } = useLoaded((signal) => prove(shown, signal), [shown.id, shown.blockId, Math.min(depth, shown.confirmations)]);
  if (error instanceof ProofError) {
    return html`<p class="notice bad" role="alert">Not proven. What the node shows does not follow from its proof: ${error.message}.</p>`;
  }
  if (isRefused(error, 404, 501)) return html`<p class="notice">The node has no proof of this transaction.</p>`;
  if (error !== undefined) return html`<${Failure} error=${error} />`;
  if (value === undefined) return html`<p class="notice">Checking …</p>`;
  const { block, confirmedBy, delegates, round, proven, trusted } = value;
  if (block.height === 1) {
    return html`<p class="notice">The chain begins with block 1. Its content cannot be proven; compare its id with the network's.</p>`;
  }
  const isEnough = 3 * confirmedBy > 2 * delegates.length;
  const by = `${count(confirmedBy)} of the ${count(delegates.length)} delegates of its round`;
  const title = `Proven by ${count(confirmedBy)} ${confirmedBy === 1 ? "delegate" : "delegates"}.`;
  return html`<p>${confirmedBy === 0 ? "No delegate has built on its block yet." : html`<b class=${isEnough ? "good" : ""}>${title}</b>`}
    ${" "}This page has checked the signatures: everything above but the confirmations is in a signed
    block${confirmedBy > 0 && `, on which ${by} ${confirmedBy === 1 ? "has" : "have"} built`}.
    ${!isEnough && " Until more than two thirds have, the chain may still go on without it."}</p>
    <p class="notice">The node itself says who the delegates are, and what the rules of the network are. If you do not trust it, compare
    the delegates of round ${count(round)} with those of a node that you trust.</p>
    <details><summary>What is proven, and what is trusted</summary>${lines("Proven", proven)}${lines("Trusted", trusted)}</details>`;
};

/** What of the asset is not shown in another way. */
const restOf = ({ payments: _, votes: __, ...rest } = {}) => (Object.keys(rest).length === 0 ? undefined : rest);

export const Transaction = ({ id, tip }) => {
  const load = async (signal) =>
    (await orNothing(client.transactions.get(id, {}, { signal }))) ?? orNothing(client.transactions.getUnconfirmed(id, { signal }));
  const { value: found, error, isLoading } = useLoaded(load, [id, tip]);
  if (found === undefined) return isLoading ? html`<${Waiting} />` : html`<${Missing} what="transaction" error=${error} />`;
  // Where a transaction names nobody, the node gives its sender.
  const isTo = found.asset?.payments === undefined && (found.recipient !== found.sender || [0, 8].includes(found.type));
  return html`<h1 tabindex="-1" class="deed"><${Deed} of=${found} /></h1>
    <div class="grid"><${Card} title="Transaction" wide><${Facts} rows=${[
      ["Id", html`<span class="id">${found.id}</span>`],
      ["Block", found.blockId ? html`<${BlockLink} id=${found.blockId}>${found.blockId}<//>` : "waiting to be forged"],
      ["Time", found.timestamp && html`<${Time} unix=${found.timestamp.unix} />`],
      ["Confirmations", count(found.confirmations ?? 0)],
      ["From", html`<${WalletLink} address=${found.sender} full />`],
      ["To", isTo && found.recipient && html`<${WalletLink} address=${found.recipient} full />`],
      ...votesOf(found).map((vote) => [
        vote.startsWith("-") ? "Votes no longer for" : "Votes for",
        html`<${Voted} publicKey=${vote.slice(1)} />`,
      ]),
      ["Amount", html`<${Amount} of=${BigInt(found.amount ?? 0) + sumOf(found.asset?.payments ?? [])} />`],
      ["Fee", html`<${Amount} of=${found.fee} />`],
      ["Memo", found.vendorField],
      ["Nonce", found.nonce],
      ["Asset", restOf(found.asset) && html`<pre tabindex="0">${jsonText(restOf(found.asset))}</pre>`],
    ]} /><//>
    ${found.blockId && html`<${Card} title="Proof" wide><${Proof} of=${found} /><//>`}
    ${found.asset?.payments && html`<${Payments} payments=${found.asset.payments} />`}</div>`;
};
