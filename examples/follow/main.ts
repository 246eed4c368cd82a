import { followLedger } from "./ledger.js";

const [api = "http://127.0.0.1:4003/api"] = process.argv.slice(2);
const { balances } = followLedger(api, (cursor) => console.log(cursor, "wallets:", balances.size));
