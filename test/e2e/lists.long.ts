/** Every combination of filters and orders of every list, and every row, over HTTP. */
import "./blocks.test.js";
import "./delegates.test.js";
import "./generations.test.js";
import "./locks.test.js";
import "./transactions.test.js";
import "./wallets.test.js";
import "../api/v1/accounts.test.js";
import "../api/v1/blocks.test.js";
import "../api/v1/delegates.test.js";
import "../api/v1/transactions.test.js";
