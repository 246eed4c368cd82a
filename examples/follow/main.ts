import { followLedger } from "./ledger.js";

const [api = "http://127.0.0.1:4003/api"] = process.argv.slice(2);
const { bookings } = followLedger(api, (cursor) => console.log(cursor, "wallets:", bookings.balances.size));
