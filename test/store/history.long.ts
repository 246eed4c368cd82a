/** States at earlier heights against a replay: 10,000 questions of each kind on both real chains, and on 100 random ones with forks. */
import "./history.test.js";
