/** Indexes, lists, the follower and rewards on random data, compared with plain computations. */
import "./checksums.test.js";
import "./delegate-list.test.js";
import "./follower.test.js";
import "./intersection.test.js";
import "./pages.test.js";
import "./ranked-set.test.js";
import "./rewards.test.js";
import "./set-fills.test.js";
import "./vendor-field-scan.test.js";
import "../e2e/uncached.test.js";
import "../webhooks/store.test.js";
