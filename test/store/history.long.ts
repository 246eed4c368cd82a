/** States at earlier heights against a replay: 10,000 questions of each kind on each real chain, and on 400 random ones with forks. */
import "./history.test.js";
