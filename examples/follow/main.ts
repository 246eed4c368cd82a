import { followLedger } from "./ledger.js";

const [api = "http://127.0.0.1:4003/api"] = process.argv.slice(2);
const balances = new Map<string, bigint>();
for await (const cursor of followLedger(api, balances, new AbortController().signal)) console.log(cursor, "wallets:", balances.size);
